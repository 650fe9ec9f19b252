#include "store/postgres_refusal.hpp"

#include "store/libpq.hpp"

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
  const Libpq& library = libpq();
  const std::unique_ptr<PGconn, decltype(&::PQfinish)> attempt{library.connect_start(connection.c_str()),
                                                               library.finish};
  if (attempt == nullptr) {
    return {};
  }
  // A server's words are in its language; the SQLSTATE is the same in all of them.
  library.set_error_verbosity(attempt.get(), PQERRORS_SQLSTATE);
  PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
  while (library.status(attempt.get()) != CONNECTION_BAD && wanted != PGRES_POLLING_OK &&
         wanted != PGRES_POLLING_FAILED) {
    pollfd socket{.fd = library.socket(attempt.get()),
                  .events = static_cast<short>(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT),
                  .revents = 0};
    if (::poll(&socket, 1, patience_milliseconds) <= 0) {
      return {};
    }
    wanted = library.connect_poll(attempt.get());
  }
  if (library.connection_needs_password(attempt.get()) != 0) {
    return "28P01";  // detected here, because there is no password to send
  }
  std::string_view said{library.error_message(attempt.get())};
  said = said.substr(0, said.find_last_not_of(" \n") + 1);
  const std::string_view word = said.substr(said.find_last_of(" \n") + 1);
  return is_state(word) ? std::string{word} : std::string{};
}

}  // namespace zeus::store
