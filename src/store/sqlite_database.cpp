#include "store/sqlite_database.hpp"

#include "base/file_descriptor.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <soci/sqlite3/soci-sqlite3.h>

#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace zeus::store {

namespace fs = std::filesystem;

namespace {

// How long to wait for other writers before giving up.
constexpr int busy_milliseconds = 60'000;
// SQLite waits by itself, except to change the journal.
constexpr int journal_attempts = 200;
constexpr std::chrono::milliseconds journal_pause{20};

// SOCI's primary result codes; the rest of an extended code is more detail than needed.
constexpr int primary_code = 0xff;

// SQLite opens the file, its journal and their folder, and when that fails says only that the file cannot be opened.
// The errno value of opening as many; 0 if that works.
int why_too_few_descriptors() {
  std::array<FileDescriptor, 3> opened;
  for (FileDescriptor& one : opened) {
    one = FileDescriptor{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (!one) {
      return errno;
    }
  }
  return 0;
}

// SQLite maps the index of its write-ahead log, and calls it a failure of the disk where there is no memory for that.
bool is_short_of_memory() {
  constexpr std::size_t index_page = 32'768;
  void* const place = ::mmap(nullptr, index_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) {
    return true;
  }
  ::munmap(place, index_page);
  return false;
}

// SOCI reads its connection string word by word and cannot escape a quotation mark.
std::string connection(const fs::path& file, bool read_only) {
  const std::string name = file.string();
  if (name.find('"') != std::string::npos || name.find('\n') != std::string::npos) {
    throw Error{ErrorKind::invalid_argument, fmt::format("the store cannot be in a file named {}", name),
                "choose a name without quotation marks and line breaks"};
  }
  return fmt::format("db=\"{}\"{}", name, read_only ? " readonly=true" : "");
}

constexpr Dialect sqlite_dialect{
    .identity = "INTEGER PRIMARY KEY AUTOINCREMENT",
    .bytes = "TEXT",
    .lock_row = "",
    .lock_row_if_free = "",
    .lock_user = "",
    .lock_user_if_free = "",
    .count_tables = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = :name",
};

// Device and number of a file; nothing if it is gone.
using FileIdentity = std::optional<std::pair<dev_t, ino_t>>;

FileIdentity identity_of(const fs::path& file) {
  struct stat status {};
  return ::stat(file.c_str(), &status) == 0 ? FileIdentity{{status.st_dev, status.st_ino}} : std::nullopt;
}

class SqliteDatabase final : public Database {
 public:
  SqliteDatabase(const fs::path& file, Access access, Journal wanted) : file_{file} {
    explaining(*this, [&] { open(access, wanted); });
    opened_ = identity_of(file_);
  }

  [[nodiscard]] std::string name() const override { return file_.string(); }
  void check_place() const override {
    const FileIdentity now = identity_of(file_);
    if (now != opened_) {
      throw Error{ErrorKind::unavailable,
                  fmt::format("the store {} was {} while it was open", file_.string(), now ? "replaced" : "removed"),
                  "end every process that has it open, put the right file in its place, and start them again; nothing "
                  "was written"};
    }
  }
  [[nodiscard]] const Dialect& dialect() const override { return sqlite_dialect; }
  soci::session& session() override { return session_; }

  // Keeps all other writers out, after waiting for them.
  void begin_writing() override {
    check_place();
    session_ << "BEGIN IMMEDIATE";
  }
  void begin_migrating() override { begin_writing(); }
  void commit() override { session_ << "COMMIT"; }
  void roll_back() noexcept override {
    try {
      session_ << "ROLLBACK";
    } catch (...) {
      // SQLite has rolled back by itself, as it does after some failures.
    }
  }
  [[nodiscard]] Error explained(const Failure& failure) const override;
  [[nodiscard]] Failure failure_of(const soci::soci_error& problem) const override {
    const auto* const sqlite = dynamic_cast<const soci::sqlite3_soci_error*>(&problem);
    const int code = sqlite == nullptr ? SQLITE_ERROR : sqlite->result();
    return {.code = code == SQLITE_IOERR_NOMEM ? SQLITE_NOMEM : code & primary_code,
            .text = problem.get_error_message()};
  }
  void mend(const Failure& failure, std::optional<Instant>& /*lost_since*/) override { throw explained(failure); }

 private:
  void open(Access access, Journal wanted);
  void open_what_nobody_can_write();
  void set(std::string_view pragma) { session_ << fmt::format("PRAGMA {}", pragma); }
  std::string set_journal(std::string_view mode);
  void use_write_ahead_log();
  void use_rollback_journal();

  fs::path file_;
  FileIdentity opened_;
  soci::session session_;
};

void SqliteDatabase::open(Access access, Journal wanted) {
  session_.open(soci::sqlite3, connection(file_, access == Access::read_only));
  set(fmt::format("busy_timeout = {}", busy_milliseconds));
  if (access == Access::read_only) {
    try {
      long long version = 0;
      session_ << "PRAGMA schema_version", soci::into(version);
    } catch (const soci::sqlite3_soci_error& failure) {
      const int code = failure.result() & primary_code;
      if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) {
        throw;
      }
      open_what_nobody_can_write();
    }
    return;
  }
  if (wanted == Journal::write_ahead) {
    try {
      use_write_ahead_log();
      return;
    } catch (const soci::sqlite3_soci_error& failure) {
      const int code = failure.result() & primary_code;
      if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN && code != SQLITE_PROTOCOL) {
        throw;
      }
    }
  }
  use_rollback_journal();
}

// On a read-only disk SQLite cannot make the files beside a store that let several processes read it, and does not need
// them, because no process writes.
void SqliteDatabase::open_what_nobody_can_write() {
  std::error_code absent;
  fs::path log = file_;
  log += "-wal";
  if (fs::file_size(log, absent) != 0 && !absent) {
    throw Error{ErrorKind::permission_denied,
                fmt::format("the store {} has changes in the files beside it, which can only be read with write access",
                            file_.string()),
                "open it once where it can be written"};
  }
  std::string escaped;
  for (const char letter : file_.string()) {
    escaped += letter == '%' || letter == '?' || letter == '#' || letter == ' '
                   ? fmt::format("%{:02x}", static_cast<unsigned char>(letter))
                   : std::string{letter};
  }
  session_.close();
  session_.open(soci::sqlite3, fmt::format("db=\"file:{}?immutable=1\" readonly=true", escaped));
  long long version = 0;
  session_ << "PRAGMA schema_version", soci::into(version);
}

std::string SqliteDatabase::set_journal(std::string_view mode) {
  for (int attempt = 1;; ++attempt) {
    try {
      std::string now;
      session_ << fmt::format("PRAGMA journal_mode = {}", mode), soci::into(now);
      return now;
    } catch (const soci::sqlite3_soci_error& failure) {
      if ((failure.result() & primary_code) != SQLITE_BUSY || attempt == journal_attempts) {
        throw;
      }
      std::this_thread::sleep_for(journal_pause);
    }
  }
}

void SqliteDatabase::use_write_ahead_log() {
  if (set_journal("WAL") != "wal") {
    throw soci::sqlite3_soci_error{"no write-ahead log here", SQLITE_PROTOCOL};
  }
  set("synchronous = FULL");
  // The first reader creates the shared memory, which is what some file systems lack.
  long long tables = 0;
  session_ << "SELECT COUNT(*) FROM sqlite_master", soci::into(tables);
}

void SqliteDatabase::use_rollback_journal() {
  static_cast<void>(set_journal("DELETE"));
  // EXTRA also flushes the folder: a journal that reappears after a power cut would undo acknowledged commits.
  set("synchronous = EXTRA");
}

Error SqliteDatabase::explained(const Failure& failure) const {
  const std::string name = file_.string();
  const bool no_memory = failure.code == SQLITE_NOMEM || (failure.code == SQLITE_IOERR && is_short_of_memory());
  if (no_memory) {
    return Error{ErrorKind::unavailable, fmt::format("there is not enough memory to use the store {}", name),
                 "allow more (`ulimit -v`); nothing was half-written"};
  }
  switch (failure.code) {
    case SQLITE_IOERR:  // of files opened before the disk became read-only
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      if (is_on_read_only_disk(file_)) {
        return Error{ErrorKind::permission_denied, fmt::format("the disk that has the store {} is read-only", name),
                     "mount it writable, or name another store; nothing was half-written"};
      }
      break;
    default:
      break;
  }
  switch (failure.code) {
    case SQLITE_FULL:
      return Error{ErrorKind::unavailable, fmt::format("the disk that has the store {} is full", name),
                   "make room there, or name another store; nothing was half-written"};
    case SQLITE_IOERR:
      return Error{ErrorKind::unavailable, fmt::format("the disk that has the store {} fails, or is full", name),
                   "check that there is room, and read the system's log; nothing was half-written"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Error{ErrorKind::permission_denied, fmt::format("the store {} cannot be written", name),
                   "give yourself the right to write the file and its folder, or name another store"};
    case SQLITE_CANTOPEN:
      if (const int error = why_too_few_descriptors(); error != 0) {
        return system_failure(error, fmt::format("the store {} cannot be opened", name));
      }
      return Error{ErrorKind::permission_denied, fmt::format("the store {} cannot be opened", name),
                   "check that its folder exists and that you may write it, or name another store"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error{ErrorKind::timeout,
                   fmt::format("other processes have kept the store {} busy for {} s", name, busy_milliseconds / 1000),
                   "try again; `fuser` shows which processes have it open"};
    case SQLITE_CORRUPT:
      return Error{ErrorKind::corrupt_data, fmt::format("the store {} is damaged", name),
                   "restore a backup of it, or move it away to start over"};
    case SQLITE_NOTADB:
      return Error{ErrorKind::corrupt_data, fmt::format("{} is not a store of Zeus", name), "name another file"};
    default:
      return Error{ErrorKind::unavailable, fmt::format("the store {} failed: {}", name, failure.text),
                   "try again; please report it if it stays so"};
  }
}

}  // namespace

Journal journal_for(const fs::path& folder) {
  // File systems that another machine may also have mounted (linux/magic.h and the file systems' own sources): a
  // write-ahead log would be corrupted there.
  constexpr std::array<std::uint64_t, 14> shared = {
      0x6969,      // NFS
      0xff534d42,  // CIFS
      0xfe534d42,  // SMB2
      0x517b,      // SMB
      0x564c,      // NCP
      0x5346414f,  // AFS
      0x6b414653,  // kAFS
      0x00c36400,  // Ceph
      0x0bd00bd0,  // Lustre
      0x47504653,  // GPFS
      0x7461636f,  // OCFS2
      0x01161970,  // GFS2
      0x01021997,  // 9P
      0x65735546,  // FUSE: sshfs, GlusterFS and many more
  };
  struct statfs status {};
  if (::statfs(folder.c_str(), &status) != 0) {
    return Journal::rollback;
  }
  const auto type = static_cast<std::uint64_t>(static_cast<std::uint32_t>(status.f_type));
  return std::ranges::find(shared, type) == shared.end() ? Journal::write_ahead : Journal::rollback;
}

bool is_on_read_only_disk(const fs::path& file) {
  return ::faccessat(AT_FDCWD, file.c_str(), W_OK, AT_EACCESS) != 0 && errno == EROFS;
}

std::unique_ptr<Database> open_sqlite(const fs::path& file, Access access, Journal wanted) {
  return std::make_unique<SqliteDatabase>(file, access, wanted);
}

}  // namespace zeus::store
