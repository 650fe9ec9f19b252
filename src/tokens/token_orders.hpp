// What `zeusd token` and `zeus token` are asked for: the options of issuing a token and of taking one back, and the
// doing of it. Both programs have the same commands, which these are. Main thread.
#pragma once

#include "base/clock.hpp"
#include "command_line/options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace zeus::tokens {

class IssueOrder {
 public:
  // `scopes` are what may be named. The help has no examples yet.
  void declare(command_line::Options& options, const std::vector<std::string>& scopes);
  // The token.
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
  // The id of the token that is taken back. Whoever believes it has to read its credentials anew.
  [[nodiscard]] std::string carry_out(const Clock& clock) const;

 private:
  std::string keys_;
  std::optional<std::string> id_;
  std::optional<std::string> token_file_;
};

}  // namespace zeus::tokens
