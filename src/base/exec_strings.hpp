// Strings as exec() and posix_spawn() take them. Any thread.
#pragma once

#include <string>
#include <vector>

namespace zeus {

// Pointers to all of them and a null pointer at the end; they last as long as the strings stay as they are.
inline std::vector<char*> exec_pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace zeus
