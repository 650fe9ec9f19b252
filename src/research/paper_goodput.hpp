// One job on four GPUs under the policies, beside the same training whose batch size follows its goodput, after the
// paper's section 6.6. The trainings are real and take a second or two for each seed. A pure function; any thread.
#pragma once

#include "records/findings.hpp"

#include <cstdint>

namespace zeus::research {

records::FindingsSection goodput_section(std::uint64_t seeds);

}  // namespace zeus::research
