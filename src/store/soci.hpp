// SOCI, without the part of it that binds Boost.Fusion sequences: nobody here uses that, and it would need Boost's
// headers. Nothing else in SOCI's headers depends on it.
#pragma once

#include <soci/soci-config.h>

#undef SOCI_HAVE_BOOST

#include <soci/soci.h>
