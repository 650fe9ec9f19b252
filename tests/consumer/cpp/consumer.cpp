#include <zeus/zeus.hpp>

#include <iostream>

int main() {
  using namespace zeus::literals;
  try {
    throw zeus::Error{zeus::ErrorKind::not_found, "thrown by a consumer", "caught by it too"};
  } catch (const zeus::Error& error) {
    std::cout << "zeus " << zeus::version() << ": " << (200_W * 50_ms).value() << " mJ; " << error.what() << '\n';
  }
}
