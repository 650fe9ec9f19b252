#include <zeus/device.hpp>
#include <zeus/reading.hpp>

#include <iostream>

int main() {
  // EXAMPLE
}
