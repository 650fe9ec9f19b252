#include "cli/kept_jobs.hpp"
#include "jobs/job.hpp"
#include "jobs/redefinition.hpp"
#include "jobs/transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

namespace zeus::cli {

namespace {

Error no_job(const std::string& job) {
  return {ErrorKind::not_found, fmt::format("there is no job '{}'", job), "`zeus jobs` lists those there are"};
}

class StoredJobs final : public KeptJobs {
 public:
  // A null store has no jobs.
  StoredJobs(const Context& context, std::string location, std::unique_ptr<store::JobStore> store)
      : context_{context},
        location_{std::move(location)},
        store_{std::move(store)},
        site_{jobs::this_site(context.clock, context.files)} {}

  [[nodiscard]] std::string location() const override { return store::shown_location(location_); }
  std::vector<records::JobSummary> summaries(const LeftOut& left_out) override {
    return store_ == nullptr ? std::vector<records::JobSummary>{} : jobs::summaries(*store_, site_, left_out);
  }
  records::JobView view(const std::string& job) override { return find(job).view(); }
  records::JobDefinition definition(const std::string& job) override {
    jobs::Job found = find(job);
    found.refresh();
    return found.definition();
  }
  std::string exported(const std::string& job) override { return jobs::export_job(*store_, job); }
  std::vector<protocol::ReportedChange> redefine(const std::string& job,
                                                 const records::JobDefinition& definition) override {
    std::vector<protocol::ReportedChange> told;
    for (const records::DefinitionChange& change : find(job).redefine(definition)) {
      told.push_back({.key = std::string{change.key},
                      .was = change.was,
                      .now = change.now,
                      .follows = std::string{jobs::what_follows(change.key)}});
    }
    return told;
  }
  bool has(const std::string& job) override {
    const std::vector<std::string> names = store_->names();
    return std::ranges::find(names, job) != names.end();
  }
  void forget(const std::string& job) override {
    if (!store_->forget(job)) {
      throw no_job(job);
    }
  }
  protocol::ImportedJob import(const std::string& job, const std::string& text) override {
    const store::StoredJob made = jobs::import_job(*store_, job, text, context_.clock.wall());
    return {.name = made.name, .entries = made.length};
  }

 private:
  jobs::Job find(const std::string& job) {
    std::optional<jobs::Job> found = jobs::Job::find(*store_, site_, job);
    if (!found) {
      throw no_job(job);
    }
    return std::move(*found);
  }

  const Context& context_;
  std::string location_;
  std::unique_ptr<store::JobStore> store_;
  jobs::Site site_;
};

}  // namespace

std::unique_ptr<KeptJobs> stored_jobs(const Context& context, const std::string& location, store::Access access) {
  return std::make_unique<StoredJobs>(context, location, store::open_store(location, access, context.clock));
}

std::unique_ptr<KeptJobs> no_jobs(const Context& context, const std::string& location) {
  return std::make_unique<StoredJobs>(context, location, nullptr);
}

}  // namespace zeus::cli
