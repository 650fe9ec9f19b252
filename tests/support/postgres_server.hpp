// A PostgreSQL of a test program's own (tests/support/postgres_server.py), and statements to it beside the code that is
// tested. One thread at a time.
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

  // The one of this program: started when first asked for, gone with the program.
  static PostgresServer& of_program();

  // Where its socket is.
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  // Of a database there, through the socket in `folder`.
  [[nodiscard]] static std::string address(std::string_view database, const std::filesystem::path& folder,
                                           std::string_view user = "zeus");
  [[nodiscard]] std::string address(std::string_view database) const { return address(database, folder_); }
  // Makes a database that is empty, and returns its name.
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

// Executes statements at an address; returns the first value of the last one's answer, or nothing. Throws
// std::runtime_error.
std::string run_sql(const std::string& address, const std::string& statements);

}  // namespace zeus::test
