#include "device/gpu_names.hpp"

#include "tests/support/fake_gpu.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace zeus::device {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Three GPUs in the machine; programs see the last as 0 and the first as 1.
class GpuNames : public testing::Test {
 protected:
  GpuNames() {
    for (const char* const uuid : {"GPU-a", "GPU-b", "GPU-c"}) {
      GpuIdentity identity;
      identity.uuid = uuid;
      identity.name = "Tesla V100";
      backend_.its_discovery.gpus.push_back({std::make_shared<test::FakeGpu>(identity), nullptr});
    }
    const std::vector<Backend*> backends{&backend_};
    inventory_ = take_inventory(backends, Environment{{{"CUDA_VISIBLE_DEVICES", "GPU-c,GPU-a"}}});
  }

  [[nodiscard]] std::vector<int> numbers(const std::vector<std::string>& names) const {
    return numbers_of(inventory_, names);
  }
  [[nodiscard]] Error why_not(const std::vector<std::string>& names) const {
    try {
      (void)numbers(names);
    } catch (const Error& error) {
      return error;
    }
    return Error{ErrorKind::internal, "they are taken"};
  }

  test::FakeBackend backend_{"backend"};
  Inventory inventory_;
};

TEST_F(GpuNames, NumbersAndUuidsMayBeMixedAndKeepTheirOrder) {
  EXPECT_THAT(numbers({"1", "GPU-c"}), ElementsAre(1, 0));
  EXPECT_THAT(numbers({"GPU-a"}), ElementsAre(1));
  EXPECT_THAT(numbers({}), ElementsAre());
}

TEST_F(GpuNames, TheErrorForAnUnknownNameListsTheGpus) {
  const Error number = why_not({"0", "2"});
  EXPECT_EQ(number.kind(), ErrorKind::not_found);
  EXPECT_STREQ(number.what(), "there is no GPU '2'; there are 0 (Tesla V100, GPU-c), 1 (Tesla V100, GPU-a)");
  for (const char* const word : {"GPU-d", "gpu-a", "GPU", "-1", "1.0", "0x0"}) {
    EXPECT_EQ(why_not({word}).kind(), ErrorKind::invalid_argument) << word;
    EXPECT_THAT(why_not({word}).what(), HasSubstr("there are 0 (Tesla V100")) << word;
  }
  EXPECT_THAT(why_not({"\x1b[2J"}).what(), HasSubstr("'\\x1b[2J'"));
}

TEST_F(GpuNames, AHiddenGpuIsFoundAndHasNoNumber) {
  ASSERT_NE(find_gpu(inventory_, "GPU-b"), nullptr);
  const Error error = why_not({"GPU-b"});
  EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
  EXPECT_EQ(error.message(), "GPU-b (Tesla V100) is hidden from programs by the visibility variables");
}

TEST_F(GpuNames, AGpuIsNamedOnce) {
  EXPECT_EQ(why_not({"0", "1", "0"}).message(), "GPU 0 (Tesla V100) is named twice");
  EXPECT_EQ(why_not({"1", "GPU-a"}).message(), "GPU 1 (Tesla V100) is named twice");
}

TEST(GpuNamesOfNoGpu, SaysWhereToLook) {
  try {
    (void)numbers_of(Inventory{}, std::vector<std::string>{"0"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no GPU '0'; no GPU can be seen here; `zeus doctor` says why");
  }
}

}  // namespace
}  // namespace zeus::device
