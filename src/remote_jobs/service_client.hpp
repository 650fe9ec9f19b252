// A client of a service of recurring jobs: one call, one answer. A refusal becomes the zeus::Error that the service
// describes, with its advice; a service that cannot be reached is unavailable, or a timeout. One thread at a time; give
// each its own.
#pragma once

#include "protocol/error_body.hpp"
#include "protocol/jobs_api.hpp"
#include "records/json_reader.hpp"
#include "records/json_writer.hpp"
#include "remote_jobs/server_address.hpp"
#include "transport/client.hpp"

#include <zeus/error.hpp>
#include <zeus/units.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace zeus::remote_jobs {

// The path of a job, and the rest after it: job_path("a/b", "/tries").
std::string job_path(std::string_view job, std::string_view rest = {});

// A change to make. The same key means the same change, however often it is sent.
struct Change {
  std::string method = "POST";
  std::string path;
  std::string body;
  std::string_view type = protocol::json_type;  // of the body; static storage
  std::string key;
};

class ServiceClient {
 public:
  // `token` is sent if the address has none.
  ServiceClient(ServerAddress address, std::string_view token, Seconds answer_time = Seconds{30});

  [[nodiscard]] const ServerAddress& address() const { return address_; }

  template <typename Answer>
  Answer get(std::string_view path) {
    return protocol::read_service_answer<Answer>(get_text(path));
  }
  template <typename Answer>
  Answer change(const Change& change) {
    return protocol::read_service_answer<Answer>(make(change));
  }
  // The answer's body, unchanged.
  std::string get_text(std::string_view path);
  std::string make(const Change& change);

 private:
  std::string ask(transport::Request request);

  ServerAddress address_;
  transport::HttpClient client_;
};

// Whether it may help to ask again later: the service is away, or overloaded.
bool is_passing(const Error& error);

}  // namespace zeus::remote_jobs
