// One connection to a server, with what is read from it. Waits by poll(), never longer than it is told.
// One thread at a time.
#pragma once

#include "base/file_descriptor.hpp"
#include "transport/client.hpp"
#include "transport/message_reader.hpp"

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace zeus::transport {

class ClientConnection {
 public:
  // Connects. Unavailable when nobody listens there, permission_denied when this user may not, timeout.
  explicit ClientConnection(const ClientPlan& plan);

  // Whether it is this process's own, and the server has neither closed it nor said anything unasked.
  [[nodiscard]] bool is_good() const;
  [[nodiscard]] int descriptor() const { return socket_.get(); }

  // From here on, what is waited for may take so long.
  void allow(Seconds time);
  // False when the server has gone. It may have said why before: read on.
  bool send(std::string_view bytes);
  // Reads once into the reader, and goes as far in it as that allows. `Gone`: nothing more will come.
  enum class Came { more, whole, gone };
  Came receive(AnswerReader& reader);

 private:
  void wait_for(short events);

  std::string server_;
  FileDescriptor socket_;
  FileDescriptor timer_;
  pid_t process_;
};

// A request as it is sent. What would make two of it is an invalid_argument Error.
std::string request_text(const ClientPlan& plan, const Request& request);

}  // namespace zeus::transport
