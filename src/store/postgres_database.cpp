#include "store/postgres_database.hpp"

#include "store/libpq.hpp"
#include "store/postgres_refusal.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <soci/postgresql/soci-postgresql.h>

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace zeus::store {

namespace {

constexpr Dialect postgres_dialect{
    .identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    .bytes = R"(TEXT COLLATE "C")",
    .lock_row = " FOR UPDATE",
    .lock_row_if_free = " FOR UPDATE SKIP LOCKED",
    // A server's advisory locks have numbers: this one is "user", and a hash of the name.
    .lock_user = "SELECT COUNT(pg_advisory_xact_lock(1970496882, hashtext(:user)))",
    .lock_user_if_free = "SELECT 1 WHERE pg_try_advisory_xact_lock(1970496882, hashtext(:user))",
    .count_tables = "SELECT COUNT(*) FROM pg_class WHERE oid = to_regclass(:name)",
};

// A server's advisory locks have numbers: these are "zeus" and "jobs", so that no other program uses them.
constexpr std::string_view lock_migrations = "SELECT pg_advisory_xact_lock(2053469555, 1785684595)";

constexpr Seconds first_pause{0.02};
constexpr Seconds longest_pause{1.0};

// An SQLSTATE as a number: five digits to base 36.
constexpr int state(std::string_view text) {
  int number = 0;
  for (const char letter : text) {
    number = number * 36 + (letter <= '9' ? letter - '0' : letter - 'A' + 10);
  }
  return number;
}
constexpr int class_size = 36 * 36 * 36;
constexpr int class_of(int code) {
  return code / class_size;
}

// Libraries must not write to the terminal of a user's program.
void drop_notice(void* /*unused*/, const char* /*text*/) {
}

// A server's message begins with "SEVERITY:  SQLSTATE: ", with the first word in the server's language: where the state
// begins, or nothing.
std::optional<std::size_t> find_state(std::string_view text) {
  constexpr std::string_view before = ":  ";
  constexpr std::size_t length = 5;
  const std::size_t end = text.find(before);
  if (end == std::string_view::npos || text.substr(0, end).find('\n') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(end + before.size());
  const bool is_state =
      rest.size() > length && rest[length] == ':' && std::ranges::all_of(rest.substr(0, length), [](char letter) {
        return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z');
      });
  return is_state ? std::optional{end + before.size()} : std::nullopt;
}

// Strips what SOCI writes before the message of the server or libpq.
std::string_view without_socis(std::string_view text) {
  for (const std::string_view before : {"Cannot establish connection to the database.", "Cannot execute query.",
                                        "Cannot prepare statement.", "Fatal error."}) {
    if (text.starts_with(before)) {
      text.remove_prefix(std::min(before.size() + 1, text.size()));
    }
  }
  return text;
}

std::string in_one_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    if (letter != '\n' && letter != '\t' && letter != ' ') {
      line += letter;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(PostgresAddress address, Access access, Clock& clock)
      : address_{std::move(address)}, access_{access}, clock_{clock}, owner_{::getpid()} {
    connect(clock.now(), patience_when_opening);
  }
  PostgresDatabase(const PostgresDatabase&) = delete;
  PostgresDatabase& operator=(const PostgresDatabase&) = delete;
  ~PostgresDatabase() override {
    // A forked child shares its parent's connection; closing it would end the parent's.
    if (::getpid() != owner_) {
      static_cast<void>(session_.release());
    }
  }

  [[nodiscard]] std::string name() const override { return address_.shown; }
  [[nodiscard]] const Dialect& dialect() const override { return postgres_dialect; }
  soci::session& session() override { return *session_; }

  void begin_writing() override { session() << "BEGIN"; }
  void begin_migrating() override {
    begin_writing();
    session() << std::string{lock_migrations};
  }
  void commit() override { session() << "COMMIT"; }
  void roll_back() noexcept override {
    try {
      session() << "ROLLBACK";
    } catch (...) {
      // The connection is gone, and the transaction with it.
    }
  }
  [[nodiscard]] Failure failure_of(const soci::soci_error& problem) const override;
  [[nodiscard]] Error explained(const Failure& failure) const override;
  void mend(const Failure& failure, std::optional<Instant>& lost_since) override;

 private:
  void connect(Instant since, Seconds patience);
  void open();

  PostgresAddress address_;
  Access access_;
  Clock& clock_;
  pid_t owner_;
  std::unique_ptr<soci::session> session_;
};

void PostgresDatabase::open() {
  session_ = std::make_unique<soci::session>();
  session_->open(*libpq().soci_backend, address_.connection);
  auto* const backend = static_cast<soci::postgresql_session_backend*>(session_->get_backend());
  libpq().set_notice_processor(backend->conn_, &drop_notice, nullptr);
  libpq().set_error_verbosity(backend->conn_, PQERRORS_VERBOSE);  // adds the SQLSTATE
  // A server, a database or a role may set these differently. A transaction whose client has vanished ends before the
  // transactions that wait for its locks time out.
  *session_ << fmt::format(
      "SET client_encoding = 'UTF8';"
      "SET default_transaction_isolation = 'read committed';"
      "SET lock_timeout = '60s';"
      "SET idle_in_transaction_session_timeout = '30s';"
      "{}"
      "SELECT set_config('synchronous_commit', 'on', false)"
      " WHERE current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')",
      access_ == Access::read_only ? "SET default_transaction_read_only = on;" : "");
  std::string encoding;
  *session_ << "SELECT current_setting('server_encoding')", soci::into(encoding);
  if (encoding != "UTF8" && encoding != "SQL_ASCII") {
    throw Error{ErrorKind::unavailable,
                fmt::format("the database of the store {} has the encoding {}", address_.shown, encoding),
                "make one with `createdb --encoding UTF8 --template template0 NAME`, and name it"};
  }
}

// A server's definite answer will not change in a moment.
bool stays_so(int code) {
  return class_of(code) == class_of(state("28000")) || class_of(code) == class_of(state("42000")) ||
         code == state("3D000");
}

void PostgresDatabase::connect(Instant since, Seconds patience) {
  for (Seconds pause = first_pause;; pause = std::min(pause * 2.0, longest_pause)) {
    Failure failure;
    try {
      open();
      return;
    } catch (const soci::soci_error& problem) {
      failure = failure_of(problem);
    }
    if (failure.code == 0) {
      const std::string refused = sql_state_of_refusal(address_.connection);
      failure.code = state(refused);
    }
    if (stays_so(failure.code) || clock_.now() - since + pause > patience) {
      throw explained(failure);
    }
    clock_.sleep_until(clock_.now() + pause);
  }
}

Failure PostgresDatabase::failure_of(const soci::soci_error& problem) const {
  const std::string whole = problem.get_error_message();
  std::string_view text = without_socis(whole);
  int code = 0;
  if (const std::optional<std::size_t> said = find_state(text)) {
    constexpr std::size_t length = 5;
    code = state(text.substr(*said, length));
    // The first line is enough: the others repeat the statement.
    text = text.substr(*said + length + 1);
    text = text.substr(0, text.find('\n'));
  }
  const auto* const backend = static_cast<soci::postgresql_session_backend*>(session_->get_backend());
  const bool gone = backend == nullptr || libpq().status(backend->conn_) != CONNECTION_OK;
  // 57P01 to 57P05: the server or its administrator ends the connection; 25P03: it waited too long for its client.
  const bool ended = (code >= state("57P01") && code <= state("57P05")) || code == state("25P03") ||
                     class_of(code) == class_of(state("08000"));
  return {.code = code, .lost = gone || ended, .text = in_one_line(text)};
}

void PostgresDatabase::mend(const Failure& failure, std::optional<Instant>& lost_since) {
  const Instant now = clock_.now();
  if (failure.code == state("40P01") && now - lost_since.value_or(now) <= patience_with_the_lost) {
    lost_since = lost_since.value_or(now);
    return;  // a deadlock, which the server ended by choosing this one
  }
  if (!failure.lost || now - lost_since.value_or(now) > patience_with_the_lost) {
    throw explained(failure);
  }
  lost_since = lost_since.value_or(now);
  connect(*lost_since, patience_with_the_lost);
}

Error PostgresDatabase::explained(const Failure& failure) const {
  const std::string& name = address_.shown;
  switch (failure.code) {
    case state("3D000"):
      return Error{ErrorKind::not_found, fmt::format("there is no database for the store {}", name),
                   "make it with `createdb`, or name another"};
    case state("53300"):
      return Error{ErrorKind::unavailable, fmt::format("the store {} has no free connection", name),
                   "end some that are idle, or raise max_connections there"};
    case state("53100"):
      return Error{ErrorKind::unavailable, fmt::format("the disk that has the store {} is full", name),
                   "make room there, or name another store; nothing was half-written"};
    case state("57P03"):
      return Error{ErrorKind::unavailable, fmt::format("the server of the store {} is just starting or stopping", name),
                   "try again in a moment"};
    case state("25006"):
      return Error{ErrorKind::permission_denied, fmt::format("the store {} can only be read", name),
                   "name a server that can be written, or find out why its transactions are read-only"};
    case state("42501"):
      return Error{ErrorKind::permission_denied, fmt::format("the store {} may not be used by this user", name),
                   "have its administrator grant the right to use its tables, and to make them in its schema"};
    case state("55P03"):
    case state("57014"):
      return Error{ErrorKind::timeout, fmt::format("other processes have kept the store {} busy for too long", name),
                   "try again; pg_stat_activity shows who has it open"};
    case state("22021"):
    case state("22P05"):
      return Error{ErrorKind::invalid_argument, fmt::format("a name or a string for the store {} is not UTF-8", name),
                   "write it in UTF-8"};
    case state("XX001"):
    case state("XX002"):
      return Error{ErrorKind::corrupt_data, fmt::format("the store {} is damaged", name),
                   "restore a backup of it; its server's log says more"};
    default:
      break;
  }
  if (class_of(failure.code) == class_of(state("28000"))) {
    return Error{ErrorKind::permission_denied, fmt::format("the store {} does not let this user in", name),
                 "check the user's name, and the password in PGPASSWORD, ~/.pgpass or the address"};
  }
  if (failure.lost) {
    return Error{ErrorKind::unavailable, fmt::format("the store {} does not answer: {}", name, failure.text),
                 "check that its server runs and can be reached from here"};
  }
  return Error{ErrorKind::unavailable, fmt::format("the store {} failed: {}", name, failure.text),
               "try again; please report it if it stays so"};
}

}  // namespace

std::unique_ptr<Database> open_postgres(PostgresAddress address, Access access, Clock& clock) {
  return std::make_unique<PostgresDatabase>(std::move(address), access, clock);
}

}  // namespace zeus::store
