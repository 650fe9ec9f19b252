#include "tests/support/postgres_server.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace zeus::test {

PostgresServer::PostgresServer() {
  std::array<int, 2> commands{};
  std::array<int, 2> answers{};
  if (::pipe2(commands.data(), O_CLOEXEC) != 0 || ::pipe2(answers.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error{"no pipes"};
  }
  process_ = ::fork();
  if (process_ == 0) {
    ::dup2(commands[0], STDIN_FILENO);
    ::dup2(answers[1], STDOUT_FILENO);
    ::execlp("python3", "python3", ZEUS_POSTGRES_SERVER, nullptr);
    ::_exit(127);
  }
  ::close(commands[0]);
  ::close(answers[1]);
  commands_ = commands[1];
  answers_ = ::fdopen(answers[0], "r");
  folder_ = line();
}

PostgresServer::~PostgresServer() {
  ::close(commands_);
  std::fclose(answers_);
  ::waitpid(process_, nullptr, 0);
}

PostgresServer& PostgresServer::of_program() {
  static PostgresServer server;
  return server;
}

std::string PostgresServer::line() {
  std::string text;
  for (int letter = std::fgetc(answers_); letter != '\n'; letter = std::fgetc(answers_)) {
    if (letter == EOF) {
      throw std::runtime_error{"PostgreSQL did not start; what it said is above"};
    }
    text += static_cast<char>(letter);
  }
  return text;
}

void PostgresServer::command(std::string_view what) {
  const std::string text = fmt::format("{}\n", what);
  if (::write(commands_, text.data(), text.size()) != static_cast<ssize_t>(text.size()) || line() != "done") {
    throw std::runtime_error{"PostgreSQL does not do as it is told"};
  }
}

std::string PostgresServer::address(std::string_view database, const std::filesystem::path& folder,
                                    std::string_view user) {
  return fmt::format("postgresql://{}@/{}?host={}", user, database, folder.string());
}

std::string PostgresServer::make_database(std::string_view settings) {
  std::string name = fmt::format("test_{}", ++databases_);
  run_sql(address("postgres"), fmt::format("CREATE DATABASE {} {}", name, settings));
  return name;
}

std::string run_sql(const std::string& address, const std::string& statements) {
  const std::unique_ptr<PGconn, decltype(&::PQfinish)> connection{::PQconnectdb(address.c_str()), &::PQfinish};
  const std::unique_ptr<PGresult, decltype(&::PQclear)> result{::PQexec(connection.get(), statements.c_str()),
                                                               &::PQclear};
  const ExecStatusType status = ::PQresultStatus(result.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error{::PQerrorMessage(connection.get())};
  }
  return ::PQntuples(result.get()) > 0 ? ::PQgetvalue(result.get(), 0, 0) : "";
}

}  // namespace zeus::test
