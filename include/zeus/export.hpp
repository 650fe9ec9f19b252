// Marks what libzeus.so exports to its users; everything else is hidden.
#pragma once

#define ZEUS_API __attribute__((visibility("default")))
