// The commands `zeusd token` and `zeus token`, which are the same in both programs: the options for issuing and
// revoking a token, and the work itself. Main thread.
#pragma once

#include "base/clock.hpp"
#include "command_line/options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zeus::tokens {

class IssueOrder {
 public:
  // `scopes` are those that may be named. Declares no examples; the program does.
  void declare(command_line::Options& options, const std::vector<std::string>& scopes);
  // Returns the token.
  [[nodiscard]] std::string carry_out(const Clock& clock) const;

 private:
  std::string keys_;
  std::string key_id_;
  std::string user_;
  std::vector<std::string> scopes_;
  std::string expires_;
};

class RevokeOrder {
 public:
  void declare(command_line::Options& options);
  // Returns the ID of the revoked token. Servers that accept it have to read their credentials again.
  [[nodiscard]] std::string carry_out(const Clock& clock) const;

 private:
  std::string keys_;
  std::optional<std::string> id_;
  std::optional<std::string> token_file_;
};

}  // namespace zeus::tokens
