#include "store/postgres_refusal.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace zeus::store {

namespace {

constexpr int patience_milliseconds = 10'000;
constexpr std::size_t length_of_state = 5;

bool is_state(std::string_view word) {
  return word.size() == length_of_state && std::ranges::all_of(word, [](char letter) {
           return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z');
         });
}

}  // namespace

std::string sql_state_of_refusal(const std::string& connection) {
  const std::unique_ptr<PGconn, decltype(&::PQfinish)> attempt{::PQconnectStart(connection.c_str()), &::PQfinish};
  if (attempt == nullptr) {
    return {};
  }
  // Of what a server says, its words are in its language; this is the same in all of them.
  ::PQsetErrorVerbosity(attempt.get(), PQERRORS_SQLSTATE);
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  while (::PQstatus(attempt.get()) != CONNECTION_BAD && wanted != PGRES_POLLING_OK && wanted != PGRES_POLLING_FAILED) {
    pollfd socket{.fd = ::PQsocket(attempt.get()),
                  .events = static_cast<short>(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT),
                  .revents = 0};
    if (::poll(&socket, 1, patience_milliseconds) <= 0) {
      return {};
    }
    wanted = ::PQconnectPoll(attempt.get());
  }
  if (::PQconnectionNeedsPassword(attempt.get()) != 0) {
    return "28P01";  // said on this side, where there is none to give
  }
  std::string_view said{::PQerrorMessage(attempt.get())};
  said = said.substr(0, said.find_last_not_of(" \n") + 1);
  const std::string_view word = said.substr(said.find_last_of(" \n") + 1);
  return is_state(word) ? std::string{word} : std::string{};
}

}  // namespace zeus::store
