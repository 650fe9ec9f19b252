#include "device/visibility.hpp"

#include <gtest/gtest.h>

namespace zeus::device {
namespace {

VisibilityCandidate candidate_gpu(int index, std::string uuid, std::uint32_t bus,
                                  std::string name = "Tesla V100-SXM2-32GB", double speed = 1) {
  VisibilityCandidate candidate;
  candidate.identity.index = index;
  candidate.identity.uuid = std::move(uuid);
  candidate.identity.pci.bus = bus;
  candidate.identity.name = std::move(name);
  candidate.identity.relative_speed = speed;
  return candidate;
}

const std::vector<VisibilityCandidate> four{
    candidate_gpu(0, "GPU-aaaa0000-0000-0000-0000-000000000000", 0x10),
    candidate_gpu(1, "GPU-aabb0000-0000-0000-0000-000000000001", 0x20),
    candidate_gpu(2, "GPU-cccc0000-0000-0000-0000-000000000002", 0x30),
    candidate_gpu(3, "GPU-dddd0000-0000-0000-0000-000000000003", 0x40),
};

std::vector<std::size_t> positions(const Visibility& visibility) {
  std::vector<std::size_t> result;
  for (const VisibleGpu& visible : visibility.gpus) {
    result.push_back(visible.candidate);
  }
  return result;
}

Visibility with(const std::string& value, std::span<const VisibilityCandidate> candidates = four) {
  return visible_gpus(candidates, GpuVendor::nvidia, Environment{{{"CUDA_VISIBLE_DEVICES", value}}});
}

using Positions = std::vector<std::size_t>;

struct Case {
  const char* value;
  Positions visible;
  bool clean;  // no problem is reported
};

TEST(Visibility, WithoutTheVariableAllAreVisible) {
  const Visibility visibility = visible_gpus(four, GpuVendor::nvidia, Environment{});
  EXPECT_EQ(positions(visibility), (Positions{0, 1, 2, 3}));
  EXPECT_TRUE(visibility.problems.empty());
}

TEST(Visibility, ValuesHaveTheirMeaningInCuda) {
  const std::vector<Case> cases{
      {"0", {0}, true},
      {"2,1", {2, 1}, true},
      {"3,2,1,0", {3, 2, 1, 0}, true},
      {" 1, 2", {1, 2}, true},
      {"+1", {1}, true},
      {"1gpu2,2ampere", {1, 2}, true},
      {"00", {0}, true},
      // The first entry that names nothing ends the list.
      {"0,2,-1,1", {0, 2}, false},
      {"-1", {}, false},
      {"1,4,0", {1}, false},
      {"9", {}, false},
      {"0,", {0}, false},
      {",0", {}, false},
      {"all", {}, false},
      {"none", {}, false},
      {"0;1", {0}, true},
      {"99999999999999999999999", {}, false},
      {"-99999999999999999999999", {}, false},
      // An empty variable, and a repetition, hide every GPU.
      {"", {}, false},
      {" ", {}, false},
      {"0,0", {}, false},
      {"1,2,01", {}, false},
      {"0,0,9", {}, false},
      // UUIDs, whole or as a unique prefix.
      {"GPU-aabb0000-0000-0000-0000-000000000001", {1}, true},
      {"GPU-cccc,GPU-aaaa", {2, 0}, true},
      {"GPU-CCCC", {2}, true},
      {"GPU-c", {2}, true},
      {"GPU-aa", {}, false},
      {"GPU-cccc,GPU-aa,GPU-dddd", {2}, false},
      {"GPU-", {}, false},
      {"GPU-eeee", {}, false},
      {"GPU-cccc,GPU-cccc0000", {}, false},
      {"GPU-aabb0000-0000-0000-0000-000000000001x", {}, false},
      // The kinds do not mix: the first entry decides.
      {"GPU-cccc,1", {2}, false},
      {"1,GPU-cccc", {1}, false},
      {"GPU-cccc, GPU-aaaa", {2}, false},
      {"MIG-cccc", {}, false},
  };
  for (const Case& one : cases) {
    const Visibility visibility = with(one.value);
    EXPECT_EQ(positions(visibility), one.visible) << '"' << one.value << '"';
    EXPECT_EQ(visibility.problems.empty(), one.clean) << '"' << one.value << '"';
    for (const DeviceProblem& problem : visibility.problems) {
      EXPECT_EQ(problem.device, "CUDA_VISIBLE_DEVICES");
      EXPECT_FALSE(problem.what.empty());
      EXPECT_FALSE(problem.fix.empty());
    }
  }
}

TEST(Visibility, AProblemNamesTheEntryAndItsConsequence) {
  const Visibility visibility = with("1,7,0");
  ASSERT_EQ(visibility.problems.size(), 1U);
  EXPECT_EQ(visibility.problems[0].what,
            "has the entry \"7\", which names no GPU: only the 1 before it are visible to programs");
}

TEST(Visibility, IndicesFollowTheOrderThatCudaNumbersIn) {
  const std::vector<VisibilityCandidate> mixed{
      candidate_gpu(0, "GPU-a", 0x10, "Slow", 1),
      candidate_gpu(1, "GPU-b", 0x20, "Fast", 9),
      candidate_gpu(2, "GPU-c", 0x30, "Fast", 9),
  };
  const Visibility fastest_first =
      visible_gpus(mixed, GpuVendor::nvidia, Environment{{{"CUDA_VISIBLE_DEVICES", "0,2"}}});
  EXPECT_EQ(positions(fastest_first), (Positions{1, 0}));
  ASSERT_EQ(fastest_first.problems.size(), 1U);
  EXPECT_EQ(fastest_first.problems[0].device, "CUDA_DEVICE_ORDER");

  const Visibility by_bus = visible_gpus(
      mixed, GpuVendor::nvidia, Environment{{{"CUDA_VISIBLE_DEVICES", "0,2"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}}});
  EXPECT_EQ(positions(by_bus), (Positions{0, 2}));
  EXPECT_TRUE(by_bus.problems.empty());

  const Visibility by_uuid =
      visible_gpus(mixed, GpuVendor::nvidia, Environment{{{"CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b"}}});
  EXPECT_EQ(positions(by_uuid), (Positions{0, 1}));
  EXPECT_TRUE(by_uuid.problems.empty()) << "UUIDs mean the same in every order";
}

TEST(Visibility, TheOrderOfTheBusIsNotThatOfDiscovery) {
  const std::vector<VisibilityCandidate> reversed{candidate_gpu(0, "GPU-a", 0x20), candidate_gpu(1, "GPU-b", 0x10)};
  EXPECT_EQ(positions(visible_gpus(reversed, GpuVendor::nvidia, Environment{})), (Positions{1, 0}));
}

class MigVisibility : public ::testing::Test {
 protected:
  MigVisibility() {
    candidates_[1].mig = {true,
                          {{"MIG-11110000-0000-0000-0000-000000000000", "1g.10gb", 1, 0},
                           {"MIG-22220000-0000-0000-0000-000000000000", "2g.20gb", 3, 0}}};
  }
  [[nodiscard]] Visibility see(const std::string& value) const { return with(value, candidates_); }

  std::vector<VisibilityCandidate> candidates_ = four;
};

TEST_F(MigVisibility, ASliceIsNamedByItsUuidABeginningOfItOrTheOldWay) {
  const VisibleGpu second{1, "MIG-22220000-0000-0000-0000-000000000000"};
  for (const char* value :
       {"MIG-22220000-0000-0000-0000-000000000000", "MIG-2222", "MIG-GPU-aabb0000-0000-0000-0000-000000000001/3/0"}) {
    const Visibility visibility = see(value);
    EXPECT_EQ(visibility.gpus, std::vector{second}) << value;
    EXPECT_TRUE(visibility.problems.empty()) << value;
  }
}

TEST_F(MigVisibility, AnIndexOfACutGpuMeansItsFirstSlice) {
  EXPECT_EQ(see("1").gpus, (std::vector{VisibleGpu{1, "MIG-11110000-0000-0000-0000-000000000000"}}));
}

TEST_F(MigVisibility, AProgramSeesOneSliceAndNothingElse) {
  for (const char* value : {"0,1,2", "MIG-1111,MIG-2222"}) {
    const Visibility visibility = see(value);
    EXPECT_EQ(visibility.gpus, (std::vector{VisibleGpu{1, "MIG-11110000-0000-0000-0000-000000000000"}})) << value;
    EXPECT_EQ(visibility.problems.size(), 1U) << value;
  }
  EXPECT_EQ(positions(see("0,2")), (Positions{0, 2})) << "whole GPUs alone are not disturbed by another's slices";
}

TEST_F(MigVisibility, ACutGpuWithoutSlicesCannotBeUsed) {
  candidates_[1].mig.instances.clear();
  const Visibility visibility = see("0,1");
  EXPECT_EQ(positions(visibility), Positions{0});
  ASSERT_EQ(visibility.problems.size(), 1U);
  EXPECT_EQ(visibility.problems[0].device, "GPU-aabb0000-0000-0000-0000-000000000001 (Tesla V100-SXM2-32GB)");
}

class AmdVisibility : public ::testing::Test {
 protected:
  AmdVisibility() {
    for (int i = 0; i < 4; ++i) {
      VisibilityCandidate candidate =
          candidate_gpu(i, "GPU-" + std::string(16, static_cast<char>('a' + i)), 0x10, "MI250X");
      candidate.identity.vendor = GpuVendor::amd;
      candidates_.push_back(std::move(candidate));
    }
  }
  [[nodiscard]] Visibility see(Environment::Variables variables) const {
    return visible_gpus(candidates_, GpuVendor::amd, Environment{std::move(variables)});
  }

  std::vector<VisibilityCandidate> candidates_;
};

TEST_F(AmdVisibility, HipNumbersWhatTheRuntimeBelowLeaves) {
  EXPECT_EQ(positions(see({})), (Positions{0, 1, 2, 3}));
  EXPECT_EQ(positions(see({{"HIP_VISIBLE_DEVICES", "2,0"}})), (Positions{2, 0}));
  EXPECT_EQ(positions(see({{"ROCR_VISIBLE_DEVICES", "3,GPU-BBBBBBBBBBBBBBBB"}})), (Positions{3, 1}));
  EXPECT_EQ(positions(see({{"ROCR_VISIBLE_DEVICES", "3,1"}, {"HIP_VISIBLE_DEVICES", "1"}})), Positions{1});
  EXPECT_EQ(positions(see({{"ROCR_VISIBLE_DEVICES", ""}, {"HIP_VISIBLE_DEVICES", "0"}})), Positions{});
}

TEST_F(AmdVisibility, CudasVariableCountsIfHipsIsNotSet) {
  EXPECT_EQ(positions(see({{"CUDA_VISIBLE_DEVICES", "1"}})), Positions{1});
  EXPECT_EQ(positions(see({{"CUDA_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}})), Positions{0});
}

TEST_F(AmdVisibility, TheFirstInvalidEntryEndsTheListAndARepetitionCountsOnce) {
  EXPECT_EQ(positions(see({{"HIP_VISIBLE_DEVICES", "1,9,0"}})), Positions{1});
  EXPECT_EQ(positions(see({{"HIP_VISIBLE_DEVICES", "1,1,0"}})), (Positions{1, 0}));
}

TEST_F(AmdVisibility, VendorsDoNotDisturbOneAnother) {
  std::vector<VisibilityCandidate> both = four;
  both.insert(both.end(), candidates_.begin(), candidates_.end());
  const Environment environment{{{"CUDA_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "2"}}};
  EXPECT_EQ(positions(visible_gpus(both, GpuVendor::nvidia, environment)), Positions{1});
  EXPECT_EQ(positions(visible_gpus(both, GpuVendor::amd, environment)), Positions{6});
}

TEST(Visibility, OnAMachineWithoutGpusThereAreNoProblems) {
  const Visibility visibility = with("0", {});
  EXPECT_TRUE(visibility.gpus.empty());
  EXPECT_TRUE(visibility.problems.empty());
}

}  // namespace
}  // namespace zeus::device
