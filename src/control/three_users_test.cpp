// Two ordinary users and root share a folder of records. One of them, Mallory, forges what she can, which must not
// affect the others. Each user acts in a separate process with that user's rights, on fake GPUs and the real kernel.

#include "control/lease_book.hpp"
#include "control/restoration.hpp"
#include "control/state_folder.hpp"
#include "tests/support/settable_gpu.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace zeus::control {
namespace {

namespace fs = std::filesystem;

constexpr uid_t root = 0;
constexpr uid_t alice = 65'532;
constexpr uid_t mallory = 65'533;
constexpr const char* leased_gpu = "GPU-0";

struct NoGuardian final : Guardian {
  void watch(const std::string& /*gpu*/) override {}
  void notice() noexcept override {}
};

// What `action` returns when `user` runs it, in a separate process.
std::string as(uid_t user, const std::function<std::string()>& action) {
  std::array<int, 2> said{};
  EXPECT_EQ(::pipe(said.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    std::string text;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0) {
      text = "cannot become that user";
    } else {
      try {
        text = action();
      } catch (const std::exception& error) {
        text = fmt::format("threw: {}", error.what());
      }
    }
    ::_exit(::write(said[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  ::close(said[1]);
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(said[0], buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(said[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return text;
}

class ThreeUsers : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) {
      GTEST_SKIP() << "only root can act as other users";
    }
    ::chmod(temporary_.path().c_str(), 0755);
    machine_.write_durably("proc/sys/kernel/random/boot_id", "this-boot\n", Readers::everyone);
    make_folder(state_, root, 01777);
    make_folder(elsewhere_, mallory, 0755);
  }

  static void make_folder(const fs::path& folder, uid_t owner, mode_t mode) {
    fs::create_directories(folder);
    ASSERT_EQ(::chown(folder.c_str(), owner, owner), 0);
    ASSERT_EQ(::chmod(folder.c_str(), mode), 0);
  }

  [[nodiscard]] Ledger ledger() const { return Ledger{FileTree{state_}, machine_}; }
  [[nodiscard]] static LeaseRecord forged_record() {
    LeaseRecord record{{77, Instant{1}, {1, 5, "python3"}, {}}, leased_gpu, "GPU 0", "this-boot"};
    record.found.power_limit = 100_W;
    record.found.persistence_mode = true;
    return record;
  }
  [[nodiscard]] fs::path record_file() const { return state_ / "GPU-0.lease.json"; }
  [[nodiscard]] fs::path lock_file() const { return state_ / "GPU-0.lock"; }

  static void write(const fs::path& file, const std::string& content, mode_t mode = 0644) {
    std::ofstream{file} << content;
    ::chmod(file.c_str(), mode);
  }

  // The others' everyday work: puts back whatever was left, then sets a GPU under a lease and releases it. An operator
  // had set the GPU to 220 W. Returns what went wrong, if anything did, after "refused: " if the user got an error.
  [[nodiscard]] std::string works_as_ever() const {
    const auto gpu = std::make_shared<test::SettableGpu>(0);
    gpu->its_limits.current = 220_W;
    const std::vector<device::DiscoveredGpu> gpus{test::discovered(gpu)};
    VirtualClock clock{Instant{1'000'000'000}};
    for (const Restoration& one : restore_abandoned(ledger(), gpus, clock)) {
      if (one.result == Restoration::Result::restored) {
        return "obeyed a record";
      }
    }
    if (!gpu->log.empty()) {
      return fmt::format("set {}", fmt::join(gpu->log, ", "));
    }
    std::string refusal;
    try {
      LeaseBook book{ledger(), gpus, std::make_shared<NoGuardian>(), clock};
      Lease lease = book.acquire(leased_gpu);
      static_cast<void>(lease.set_power_limit(150_W));
      lease.release();
    } catch (const Error& error) {
      refusal = fmt::format("refused: {}", error.what());
    }
    if (gpu->its_limits.current != 220_W || gpu->its_persistence != false) {
      return fmt::format("left the GPU at {}", fmt::join(gpu->log, ", "));
    }
    return refusal;
  }

  test::TemporaryFolder temporary_;
  fs::path state_ = temporary_.path() / "state";
  fs::path elsewhere_ = temporary_.path() / "elsewhere";
  FileTree machine_{temporary_.path() / "machine"};
};

struct Forgery {
  std::string name;
  std::function<void()> forge;  // as Mallory
  // Whether she only blocks another ordinary user's lease: that user gets an error, and nothing is changed.
  bool in_the_way = false;
};

TEST_F(ThreeUsers, NothingThatOneOfThemForgesChangesAGpuForTheOthers) {
  const auto with = [](const std::function<void(LeaseRecord&)>& change) {
    LeaseRecord record = forged_record();
    change(record);
    return to_json(record);
  };
  const auto bind_socket = [this] {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const fs::path before = fs::current_path();
    fs::current_path(state_);  // the whole path may be too long for a socket
    const std::string name = record_file().filename();
    name.copy(static_cast<char*>(address.sun_path), sizeof address.sun_path - 1);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    static_cast<void>(
        ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address));  // NOLINT: as bind() has it
    fs::current_path(before);
  };
  const auto at_time = [this](std::int64_t seconds) {
    write(record_file(), to_json(forged_record()));
    const std::array<timespec, 2> times{timespec{seconds, 0}, timespec{seconds, 0}};
    ::utimensat(AT_FDCWD, record_file().c_str(), times.data(), 0);
  };
  const std::vector<Forgery> forgeries{
      {"a record of a dead holder", [&] { write(record_file(), to_json(forged_record())); }, true},
      {"the same, for its owner only", [&] { write(record_file(), to_json(forged_record()), 0600); }, true},
      {"the same, for everybody to change", [&] { write(record_file(), to_json(forged_record()), 0666); }, true},
      {"a lease that never runs out",
       [&] {
         write(record_file(), with([](auto& r) { r.expires = Instant{std::numeric_limits<std::int64_t>::max()}; }));
       },
       true},
      {"a holder that lives: process 1", [&] { write(record_file(), with([](auto& r) { r.expires = {INT64_MAX}; })); },
       true},
      {"a record of an earlier boot", [&] { write(record_file(), with([](auto& r) { r.boot = "earlier"; })); }, true},
      {"a record of another GPU", [&] { write(record_file(), with([](auto& r) { r.gpu = "GPU-1"; })); }, true},
      {"a record from 1970", [&] { at_time(0); }, true},
      {"a record from 2100", [&] { at_time(4'102'444'800); }, true},
      {"nothing in the record", [&] { write(record_file(), ""); }, true},
      {"no JSON in the record", [&] { write(record_file(), std::string(3000, '\xff')); }, true},
      {"100 MB in the record",
       [&] {
         write(record_file(), to_json(forged_record()));
         fs::resize_file(record_file(), 100'000'000);
       },
       true},
      {"a link to a record of hers",
       [&] {
         write(elsewhere_ / "record", to_json(forged_record()));
         fs::create_symlink(elsewhere_ / "record", record_file());
       },
       true},
      {"a link to a file of root's", [&] { fs::create_symlink("/etc/passwd", record_file()); }, true},
      {"a link to nothing", [&] { fs::create_symlink(elsewhere_ / "nothing", record_file()); }, true},
      {"a record with a second name",
       [&] {
         write(elsewhere_ / "record", to_json(forged_record()));
         fs::create_hard_link(elsewhere_ / "record", record_file());
       },
       true},
      {"a pipe without a writer", [&] { ::mkfifo(record_file().c_str(), 0666); }, true},
      {"a folder", [&] { fs::create_directory(record_file()); }, true},
      {"a socket", bind_socket, true},
      {"a record that is being written", [&] { write(record_file().string() + ".1", to_json(forged_record())); }},
      {"a name that leads out of the folder",
       [&] { write(state_ / "%2e%2e%2fGPU-0.lease.json", with([](auto& r) { r.gpu = "../GPU-0"; })); }},
      {"a lock that is a link to a file of root's", [&] { fs::create_symlink("/etc/passwd", lock_file()); }, true},
      {"a lock that is a folder", [&] { fs::create_directory(lock_file()); }, true},
      {"a lock for herself", [&] { write(lock_file(), "", 0600); }, true},
      {"a lock with something in it", [&] { write(lock_file(), std::string(100'000, 'x'), 0666); }},
      {"a folder that she opens to all, or takes away",
       [&] {
         ::chmod(state_.c_str(), 0777);
         ::rename(state_.c_str(), (temporary_.path() / "taken").c_str());
       }},
  };
  for (const Forgery& forgery : forgeries) {
    for (const uid_t victim : {alice, root}) {
      SCOPED_TRACE(fmt::format("{}, before user {}", forgery.name, victim));
      EXPECT_EQ(as(mallory, [&] { return forgery.forge(), std::string{}; }), "");
      const std::string said = as(victim, [&] { return works_as_ever(); });
      if (!said.empty()) {
        EXPECT_THAT(said, ::testing::StartsWith("refused: "));
        EXPECT_TRUE(forgery.in_the_way) << said;
      }
      for (const fs::directory_entry& left : fs::directory_iterator{state_}) {
        fs::remove_all(left);
      }
      fs::remove(elsewhere_ / "record");
    }
  }
}

// Alice has left a record. It is obeyed for her and for root only, and root obeys only his own.
TEST_F(ThreeUsers, OneUsersRecordCannotBeChangedByAnother) {
  const std::string before = as(alice, [&] { return ledger().write(forged_record()), std::string{}; });
  ASSERT_EQ(before, "");
  EXPECT_EQ(as(mallory,
               [&] {
                 std::error_code refused;
                 fs::remove(record_file(), refused);
                 fs::rename(record_file(), state_ / "taken", refused);
                 fs::create_hard_link(record_file(), elsewhere_ / "kept", refused);
                 ::chmod(record_file().c_str(), 0666);
                 std::ofstream{record_file()} << "forged";
                 ::truncate(record_file().c_str(), 0);
                 try {
                   ledger().write(forged_record());
                   ledger().remove(leased_gpu);
                 } catch (const Error&) {
                   return std::string{};
                 }
                 return std::string{"replaced it"};
               }),
            "");
  EXPECT_EQ(as(alice, [&] { return ledger().read(leased_gpu) == forged_record() ? std::string{} : "it has changed"; }),
            "");
  EXPECT_EQ(as(root, [&] { return works_as_ever(); }), "") << "it is hers, and no business of root's";
}

TEST_F(ThreeUsers, AFolderThatAnotherHasMadeIsNobodysPlaceForRecords) {
  const fs::path squatted = temporary_.path() / "squatted";
  for (const mode_t mode : {0700U, 0755U, 0777U, 01777U}) {
    make_folder(squatted, mallory, mode);
    for (const uid_t victim : {alice, root}) {
      EXPECT_EQ(as(victim,
                   [&] {
                     const Environment environment{{{"ZEUS_STATE_DIR", squatted.string()}}};
                     return find_state_folder(environment, ::geteuid()) ? std::string{"took it"} : std::string{};
                   }),
                "")
          << fmt::format("{:o}, user {}", mode, victim);
    }
    fs::remove(squatted);
    fs::create_symlink(state_, squatted);
    EXPECT_EQ(as(alice,
                 [&] {
                   const Environment environment{{{"ZEUS_STATE_DIR", squatted.string()}}};
                   return find_state_folder(environment, ::geteuid()) ? std::string{"took it"} : std::string{};
                 }),
              "")
        << "a link";
    fs::remove(squatted);
  }
}

}  // namespace
}  // namespace zeus::control
