#include "device/pci_address.hpp"

#include <gtest/gtest.h>

namespace zeus::device {
namespace {

TEST(PciAddress, IsWrittenAsTheKernelDoes) {
  EXPECT_EQ(to_string(PciAddress{0, 0x3b, 0, 0}), "0000:3b:00.0");
  EXPECT_EQ(to_string(PciAddress{0x10000, 0xff, 0x1f, 7}), "10000:ff:1f.7");
}

TEST(PciAddress, EverySpellingOfDriversIsTheSameAddress) {
  const PciAddress expected{0, 0x3b, 0, 0};
  for (const char* text : {"0000:3b:00.0", "00000000:3B:00.0", "3b:00.0", "3b:00", "0:3b:0.0", "0000:3B:00"}) {
    EXPECT_EQ(parse_pci_address(text), expected) << text;
  }
}

TEST(PciAddress, AnythingElseIsNone) {
  for (const char* text :
       {"", ":", "3b", "::", "0000:3b:00.8", "0000:3b:20.0", "0000:3b:00.", "0000:3g:00.0", "123456789:3b:00.0",
        "0000:3b:00.0 ", " 3b:00", "0x0:3b:00", "-1:3b:00", "0000:0000:3b:00.0", ".0", "3b:.0"}) {
    EXPECT_FALSE(parse_pci_address(text)) << text;
  }
}

TEST(PciAddress, OrderIsThatOfTheBus) {
  EXPECT_LT((PciAddress{0, 0x3b, 0, 0}), (PciAddress{0, 0x3c, 0, 0}));
  EXPECT_LT((PciAddress{0, 0xff, 0, 0}), (PciAddress{1, 0, 0, 0}));
}

}  // namespace
}  // namespace zeus::device
