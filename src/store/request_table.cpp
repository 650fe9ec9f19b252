#include "store/request_table.hpp"

#include "store/entry_table.hpp"

namespace zeus::store {

namespace {

// For jobs that are gone: enough that a client without an answer repeats its request long before it is dropped.
constexpr long long most_past_requests = 10'000;

// Whether the request on record is this one; throws if the key was used for another request.
bool is_same(const std::optional<std::string>& asked, const records::EntryRequest& request) {
  if (asked && *asked != request.asked) {
    throw key_of_another_request();
  }
  return asked.has_value();
}

}  // namespace

std::optional<std::string> RequestTable::find_past(const std::string& name, const std::string& key) {
  std::string asked;
  session_ << "SELECT asked FROM past_requests WHERE name = :name AND request = :request", soci::into(asked),
      soci::use(name, "name"), soci::use(key, "request");
  return session_.got_data() ? std::optional{asked} : std::nullopt;
}

std::optional<std::string> RequestTable::find_maker(const std::string& name, const std::string& key) {
  std::string asked;
  session_ << "SELECT COALESCE(asked, '') FROM jobs WHERE name = :name AND request = :request", soci::into(asked),
      soci::use(name, "name"), soci::use(key, "request");
  return session_.got_data() ? std::optional{asked} : std::nullopt;
}

bool RequestTable::has_made(const std::string& name, const records::EntryRequest& request) {
  return !request.key.empty() &&
         (is_same(find_maker(name, request.key), request) || is_same(find_past(name, request.key), request));
}

bool RequestTable::has_forgotten(const std::string& name, std::optional<JobId> job,
                                 const records::EntryRequest& request) {
  if (request.key.empty()) {
    return false;
  }
  if (is_same(find_past(name, request.key), request)) {
    return true;
  }
  if (job && (find_maker(name, request.key) || EntryTable{session_}.find_request(*job, request.key))) {
    throw key_of_another_request();
  }
  return false;
}

void RequestTable::forget(JobId job, const std::string& name, const records::EntryRequest& request) {
  const long long id = job;
  records::EntryRequest maker;
  session_ << "SELECT request, COALESCE(asked, '') FROM jobs WHERE id = :id AND request IS NOT NULL",
      soci::into(maker.key), soci::into(maker.asked), soci::use(id);
  if (session_.got_data()) {
    keep(name, maker);
  }
  if (!request.key.empty()) {
    keep(name, request);
  }
}

void RequestTable::keep(const std::string& name, const records::EntryRequest& request) {
  session_ << "INSERT INTO past_requests (name, request, asked) VALUES (:name, :request, :asked) ON CONFLICT (name, "
              "request) DO NOTHING",
      soci::use(name), soci::use(request.key), soci::use(request.asked);
  session_ << "DELETE FROM past_requests WHERE id <= (SELECT MAX(id) FROM past_requests) - :most",
      soci::use(most_past_requests);
}

}  // namespace zeus::store
