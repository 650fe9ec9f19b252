// Runs a fuzzer's function over the files of a folder, without libFuzzer, so that old findings stay tested.
//   fuzz_replay FUZZER CORPUS_FOLDER

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#define ZEUS_FUZZER(name) extern "C" int fuzz_##name(const std::uint8_t* data, std::size_t size);
#include "fuzzers.inc"
#undef ZEUS_FUZZER

namespace {

struct Fuzzer {
  std::string_view name;
  int (*run)(const std::uint8_t* data, std::size_t size);
};

#define ZEUS_FUZZER(name) Fuzzer{#name, fuzz_##name},
constexpr std::array fuzzers = {
#include "fuzzers.inc"
};
#undef ZEUS_FUZZER

}  // namespace

int main(int argc, char** argv) {
  const Fuzzer* fuzzer = nullptr;
  for (const Fuzzer& candidate : fuzzers) {
    if (argc == 3 && candidate.name == argv[1]) {
      fuzzer = &candidate;
    }
  }
  if (!fuzzer) {
    std::cerr << "usage: " << argv[0] << " FUZZER CORPUS_FOLDER\n";
    return 2;
  }
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator{argv[2]}) {
    std::ifstream file{entry.path(), std::ios::binary};
    const std::string input{std::istreambuf_iterator<char>{file}, {}};
    fuzzer->run(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
    ++count;
  }
  std::cout << count << " inputs replayed\n";
  return count > 0 ? 0 : 1;
}
