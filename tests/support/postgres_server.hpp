// A test program's own PostgreSQL (tests/support/postgres_server.py), and direct statements to it. One thread at a
// time.
#pragma once

#include <sys/types.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

namespace zeus::test {

class PostgresServer {
 public:
  PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  // The program's only one: started on first use, ended with the program.
  static PostgresServer& of_program();

  // Where its socket is.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // The address of a database there, through the socket in `folder`.
  [[nodiscard]] static std::string address(std::string_view database, const std::filesystem::path& folder,
                                           std::string_view user = "zeus");
  [[nodiscard]] std::string address(std::string_view database) const { return address(database, folder_); }
  // Creates an empty database, and returns its name.
  std::string make_database(std::string_view settings = "");

  void kill() { command("kill"); }
  void start() { command("start"); }

 private:
  void command(std::string_view what);
  std::string line();

  pid_t process_ = -1;
  int commands_ = -1;
  std::FILE* answers_ = nullptr;
  std::filesystem::path folder_;
  int databases_ = 0;
};

// Executes statements at an address; returns the first value of the last one's result, or an empty string. Throws
// std::runtime_error.
std::string run_sql(const std::string& address, const std::string& statements);

}  // namespace zeus::test
