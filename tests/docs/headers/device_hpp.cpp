#include <zeus/device.hpp>

#include <iostream>

int main() {
  // EXAMPLE
}
