#include "run/job_file.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace zeus::run {

namespace {

namespace fs = std::filesystem;

std::string refusal_message(const std::function<void()>& call, ErrorKind kind = ErrorKind::invalid_argument) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind);
    return error.what();
  }
  return "nothing was refused";
}

std::string refusal_of(const std::string& text) {
  return refusal_message([&] { (void)job_from_toml(text, "nightly.toml"); });
}

class JobFiles : public ::testing::Test {
 protected:
  JobFiles() : folders_{.here = folder_.path() / "here", .own = folder_.path() / "own"} {
    fs::create_directories(folders_.here);
    fs::create_directories(*folders_.own);
  }
  static void write(const fs::path& file, const std::string& text) { std::ofstream{file} << text; }
  JobSettings find(const std::string& name) { return find_job(FileTree{}, folders_, name); }
  JobSettings read(const std::string& path, const std::string& name = {}) {
    return read_job(FileTree{}, folders_, path, name);
  }

  test::TemporaryFolder folder_;
  JobFolders folders_;
};

TEST(JobText, SaysWhatEachFlagWould) {
  const JobSettings job = job_from_toml(R"(
job = "bert"
command = ["python", "train.py", "--batch-size", "{batch_size}"]
batch_sizes = [16, 32]
default_batch_size = 32
learning_rate = "32:0.1"
lr_scaling = "sqrt"
target_metric = 0.76
higher_is_better = false
max_epochs = 90
eta = 1
beta = inf
window = 10
policy = "zeus"
pruning_rounds = 1
explorations = 3
prior_cost_j = 2.5e5
prior_precision = 1e-9
seed = 7
metric_regex = 'val_acc=([0-9.]+)'
epoch_regex = '^epoch (\d+)'
step_regex = '(\d+)/\d+ \['
power_limits = [100, 150.5]
max_slowdown = 1.1
profile_seconds = 2.5
gpus = [0, "GPU-1"]
store = "jobs.sqlite"
on_store_error = "refuse"
price = "0.31EUR"
carbon = "0.38 kg"
stop_at_target = true
grace = 30
quiet = true
)",
                                        "bert.toml");
  const RunOptions options = options_of(job);
  EXPECT_EQ(options.job, "bert");
  EXPECT_EQ(options.command, (std::vector<std::string>{"python", "train.py", "--batch-size", "{batch_size}"}));
  EXPECT_EQ(options.batch_sizes, (std::vector{16, 32}));
  EXPECT_EQ(options.default_batch_size, 32);
  EXPECT_EQ(options.learning_rate->at(32), 0.1);
  EXPECT_EQ(options.learning_rate->at(128), 0.2);
  EXPECT_EQ(options.target, (records::JobTarget{.metric = 0.76, .higher_is_better = false}));
  EXPECT_EQ(options.max_epochs, 90);
  EXPECT_EQ(options.eta, 1.0);
  EXPECT_EQ(options.beta, std::numeric_limits<double>::infinity());
  EXPECT_EQ(options.window, 10U);
  EXPECT_EQ(options.policy, "zeus");
  EXPECT_EQ(options.zeus,
            (records::ZeusChoices{
                .pruning_rounds = 1, .explorations = 3, .prior_cost = Joules{2.5e5}, .prior_precision = 1e-9}));
  EXPECT_EQ(options.seed, 7U);
  EXPECT_EQ(options.patterns.metric, "val_acc=([0-9.]+)");
  EXPECT_EQ(options.patterns.epoch, R"(^epoch (\d+))");
  EXPECT_EQ(options.patterns.step, R"((\d+)/\d+ \[)");
  EXPECT_EQ(options.power_limits, (std::vector{Watts{100}, Watts{150.5}}));
  EXPECT_EQ(options.max_slowdown, 1.1);
  EXPECT_EQ(options.profile_time, Seconds{2.5});
  EXPECT_EQ(options.gpus, (std::vector<std::string>{"0", "GPU-1"}));
  EXPECT_EQ(options.store, "jobs.sqlite");
  EXPECT_TRUE(options.needs_store && options.stop_at_target && options.quiet && options.set_limits);
  EXPECT_EQ(options.rates.price->per_kilowatt_hour, 0.31);
  EXPECT_EQ(options.rates.price->currency, "EUR");
  EXPECT_EQ(options.rates.carbon->grams_per_kilowatt_hour, 380);
  EXPECT_EQ(options.grace, Seconds{30});
}

TEST(JobText, UsesDefaultsForMissingKeys) {
  const RunOptions plain;
  const RunOptions options = options_of(job_from_toml("command = ['true']", "a.toml"));
  EXPECT_EQ(options.eta, plain.eta);
  EXPECT_EQ(options.beta, plain.beta);
  EXPECT_EQ(options.profile_time, plain.profile_time);
  EXPECT_EQ(options.grace, plain.grace);
  EXPECT_TRUE(options.set_limits && options.power_limits.empty() && !options.target && !options.gpus);
  EXPECT_TRUE(!options.rates.price && !options.rates.carbon);
}

TEST(JobText, TakesPowerLimitsAsAWordOrAList) {
  EXPECT_FALSE(options_of(job_from_toml("command = ['true']\npower_limits = 'off'", "a.toml")).set_limits);
  EXPECT_TRUE(options_of(job_from_toml("command = ['true']\npower_limits = 'auto'", "a.toml")).set_limits);
  EXPECT_EQ(refusal_of("command = ['true']\npower_limits = '100,150'"),
            "nightly.toml:2:16: 'power_limits' is \"100,150\", but must be \"auto\", \"off\" or a list of watts; write "
            "[100,150]");
  EXPECT_EQ(refusal_of("command = ['true']\npower_limits = [100, -5]"),
            "nightly.toml:2:22: 'power_limits' is -5, but must be a number above 0");
}

TEST(JobText, ReportsThePlaceOfAnErrorAndTheIntendedWord) {
  EXPECT_TRUE(refusal_of("command = ['true']\nprice = 'free'").starts_with("nightly.toml:2:9: "));
  EXPECT_TRUE(refusal_of("command = ['true']\ncarbon = 380").starts_with("nightly.toml:2:10: 'carbon' is 380"));
  EXPECT_EQ(refusal_of("command = ['true']\nbatch-sizes = [8]"),
            "nightly.toml:2:1: there is no key 'batch-sizes'; did you mean 'batch_sizes'?");
  EXPECT_EQ(refusal_of("command = 'python  train.py'"),
            "nightly.toml:1:11: 'command' is \"python  train.py\", but must be a list of words; write command = "
            "[\"python\", \"train.py\"]");
  EXPECT_EQ(refusal_of("command = ['true']\nlearning_rate = '128'").substr(0, 59),
            "nightly.toml:2:17: '--learning-rate 128' is not a batch siz");
  EXPECT_EQ(refusal_of("eta = 0.5"),
            "nightly.toml:1:1: the job has no command; write command = [\"python\", \"train.py\"]");
  EXPECT_EQ(refusal_of("eta = 0.5\ncommand = []").substr(0, 40), "nightly.toml:2:11: the job has no comman");
  EXPECT_EQ(refusal_of("command = ['true']\neta = 0.5\neta = 0.6"),
            "nightly.toml:3:7: 'eta' appears a second time; keep one of the two");
}

TEST(JobText, IsOverruledKeyByKey) {
  const JobSettings file = job_from_toml("command = ['true']\neta = 0.5\nquiet = true\nbatch_sizes = [1]", "a.toml");
  JobSettings flags;
  flags.eta = 0.7;
  flags.quiet = false;
  const JobSettings both = merged(flags, file);
  EXPECT_EQ(both.eta, 0.7);
  EXPECT_EQ(both.quiet, false);
  EXPECT_EQ(both.batch_sizes, std::vector{1});
  EXPECT_EQ(both.command, std::vector<std::string>{"true"});
}

TEST_F(JobFiles, AreLookedForHereFirstAndThenAmongTheUsersOwn) {
  write(*folders_.own / "nightly.toml", "command = ['own']");
  EXPECT_EQ(find("nightly").command, std::vector<std::string>{"own"});
  write(folders_.here / "nightly.toml", "command = ['here']");
  EXPECT_EQ(find("nightly").command, std::vector<std::string>{"here"});
  EXPECT_EQ(find("nightly").job, "nightly");
}

TEST_F(JobFiles, ThatDoNotExistAreRefusedWithTheIntendedName) {
  const auto find_nightly = [&] { (void)find("nightly"); };
  const std::string places = "there is no nightly.toml here, nor in " + folders_.own->string();
  EXPECT_EQ(refusal_message(find_nightly, ErrorKind::not_found),
            places + "; `zeus init nightly -- CMD` makes one by watching a run of CMD");
  write(*folders_.own / "nigthly.toml", "command = ['true']");
  EXPECT_EQ(refusal_message(find_nightly, ErrorKind::not_found), places + "; did you mean @nigthly?");
  EXPECT_EQ(refusal_message([&] { (void)read("none.toml"); }, ErrorKind::not_found),
            "there is no file none.toml; check the path");
}

TEST_F(JobFiles, NameTheirJobThemselvesOrByTheirOwnName) {
  write(folders_.here / "a.toml", "command = ['true']");
  write(folders_.here / "b.toml", "command = ['true']\njob = 'bert'");
  EXPECT_EQ(read("a.toml").job, "a");
  EXPECT_EQ(read("a.toml", "nightly").job, "nightly");
  EXPECT_EQ(read("b.toml", "nightly").job, "bert");
  EXPECT_EQ(find("b").job, "bert");
}

TEST_F(JobFiles, TwoOfOneNameAreRefused) {
  write(folders_.here / "a.toml", "command = ['true']");
  write(folders_.here / "b.toml", "command = ['true']\njob = 'a'");
  EXPECT_EQ(refusal_message([&] { (void)find("a"); }).substr(0, 37), "a.toml:1:1: b.toml is the job 'a' too");
  EXPECT_EQ(
      refusal_message([&] { (void)find("b"); }),
      "b.toml:2:7: a.toml is the job 'a' too; what is learned is kept under that name: give one of them another, as "
      "in job = \"other\"");
}

TEST_F(JobFiles, OtherFilesBesideThemAreLeftAlone) {
  write(folders_.here / "a.toml", "command = ['true']");
  write(folders_.here / "pyproject.toml", "[project]\nname = 'a'");
  write(folders_.here / "broken.toml", "command = [");
  EXPECT_EQ(find("a").job, "a");
}

TEST(JobFolders, FollowTheEnvironment) {
  const auto own = [](Environment::Variables variables) {
    return job_folders(Environment{std::move(variables)}, "/work").own;
  };
  EXPECT_EQ(own({{"HOME", "/home/a"}}), "/home/a/.config/zeus/jobs");
  EXPECT_EQ(own({{"HOME", "/home/a"}, {"XDG_CONFIG_HOME", "/etc/a"}}), "/etc/a/zeus/jobs");
  EXPECT_EQ(own({{"HOME", "/home/a"}, {"XDG_CONFIG_HOME", "relative"}}), "/home/a/.config/zeus/jobs");
  EXPECT_EQ(own({}), std::nullopt);
}

}  // namespace

}  // namespace zeus::run
