#include "base/shell_word.hpp"

#include <algorithm>

namespace zeus {

std::string shell_quoted(std::string_view word) {
  std::string quoted{'\''};
  for (const char letter : word) {
    quoted += letter == '\'' ? std::string{R"('\'')"} : std::string{letter};
  }
  return quoted + '\'';
}

std::string shell_word(std::string_view word) {
  const auto plain = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
           std::string_view{"._/-"}.find(letter) != std::string_view::npos;
  };
  return !word.empty() && std::ranges::all_of(word, plain) ? std::string{word} : shell_quoted(word);
}

}  // namespace zeus
