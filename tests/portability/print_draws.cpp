#include "tests/support/random_draws.hpp"

#include <iostream>

int main() {
  std::cout << zeus::test::random_draws();
}
