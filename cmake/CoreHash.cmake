# Writes `header` with KL_CORE_HASH: SHA-256 over code and constants of `libraries` (parted by commas), debug
# information aside. Comments, documents and the command around the core leave it as it is; what moves a number moves it.
set(text)
string(REPLACE "," ";" libraries "${libraries}")
foreach(library ${libraries})
    execute_process(COMMAND ${objcopy} --strip-debug --enable-deterministic-archives ${library} ${header}.a
                    COMMAND_ERROR_IS_FATAL ANY)
    file(SHA256 ${header}.a sum)
    string(APPEND text "${sum}\n")
endforeach()
file(REMOVE ${header}.a)
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 12 hash)
file(CONFIGURE OUTPUT ${header} CONTENT "#define KL_CORE_HASH \"${hash}\"\n")
