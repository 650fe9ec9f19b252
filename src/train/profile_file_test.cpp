#include "train/profile_file.hpp"

#include "base/file_tree.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

namespace zeus::train {
namespace {

PowerProfile profile_of(std::uint64_t batch_size, Seconds step) {
  return {.gpu = "Tesla V100",
          .gpus = 4,
          .batch_size = batch_size,
          .complete = true,
          .measurements = {{.setting = {.limit = 250_W, .clock = {}},
                            .steps = 10,
                            .step_time = step,
                            .step_time_uncertainty = 1_ms,
                            .step_energy = {.value = 50_J, .uncertainty = 1_J, .systematic = {}, .method = {}},
                            .capped = 0.5}}};
}

TEST(ProfileFile, KeepsOneProfileForEachBatchSize) {
  const test::TemporaryFolder folder;
  const auto file = folder.path() / "deep" / "er" / "profiles.json";
  EXPECT_TRUE(read_profiles(file).empty());
  keep_profile(file, profile_of(64, 1_s));
  keep_profile(file, profile_of(32, 2_s));
  keep_profile(file, profile_of(64, 3_s));
  const std::vector<PowerProfile> kept = read_profiles(file);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0], profile_of(32, 2_s));
  EXPECT_EQ(*find_profile(kept, "Tesla V100", 4, 64), profile_of(64, 3_s));
  EXPECT_EQ(find_profile(kept, "Tesla V100", 2, 64), nullptr);
  EXPECT_EQ(find_profile(kept, "Tesla V100", 4, std::nullopt), nullptr);
}

TEST(ProfileFile, DoesNotReplaceWhatItCannotRead) {
  const test::TemporaryFolder folder;
  const FileTree tree{folder.path()};
  tree.write_durably("thesis.txt", "chapter one");
  EXPECT_THROW(keep_profile(folder.path() / "thesis.txt", profile_of(64, 1_s)), Error);
  EXPECT_EQ(tree.read("thesis.txt"), "chapter one");
}

TEST(ProfileFile, RefusesWhatNoStepCanTake) {
  EXPECT_NO_THROW(static_cast<void>(profiles_from_json(to_json({profile_of(64, 100_s)}))));
  EXPECT_THROW(static_cast<void>(profiles_from_json(to_json({profile_of(64, Seconds{1e-300})}))), Error);
  EXPECT_THROW(static_cast<void>(profiles_from_json(to_json({profile_of(64, Seconds{1e300})}))), Error);
}

TEST(ProfileFile, SaysWhichFileIsNoProfile) {
  const test::TemporaryFolder folder;
  FileTree{folder.path()}.write_durably("p.json", R"({"format":"zeus power profiles","version":9,"profiles":[]})");
  try {
    static_cast<void>(read_profiles(folder.path() / "p.json"));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::corrupt_data);
    EXPECT_NE(error.message().find("p.json"), std::string::npos);
  }
}

}  // namespace
}  // namespace zeus::train
