// Benchmark suites as data: SUITE(id, title, text, solvers, entries); an entry is a scene, one of its runs
// ("" = the first) and the number of timed steps.
#define ENTRY(scene, run, steps) {scene, run, steps},

SUITE(quick, "Quick", "the primitives, two of our solvers and two of the paper's; seconds",
      "admm-ncp-plus,newton-ncp,admm-ncp-sa,pgs-ncp",
      ENTRY("box_on_plane", "", 200) ENTRY("nunchaku", "", 200) ENTRY("fourbar_free", "", 200))

SUITE(primitives, "Primitives", "the five primitives with every solver", "all",
      ENTRY("box_on_plane", "", 1000) ENTRY("boxes_fixed", "", 100) ENTRY("nunchaku", "", 1000)
          ENTRY("fourbar_fixed", "", 1000) ENTRY("fourbar_free", "", 1000))

SUITE(systems, "All systems", "every system of the suite, our solvers and the paper's best",
      "admm-ncp-plus,newton-ncp,admm-ncp-sa,admm-ncp-fp,pgs-ccp,raisim-ds",
      ENTRY("box_on_plane", "", 500) ENTRY("boxes_fixed", "", 50) ENTRY("nunchaku", "", 500)
          ENTRY("fourbar_fixed", "", 500) ENTRY("fourbar_free", "", 500) ENTRY("arm7d", "", 200)
              ENTRY("quadruped", "", 200) ENTRY("bdx", "", 200) ENTRY("lima", "", 200) ENTRY("misha", "", 100)
                  ENTRY("walker", "", 100) ENTRY("gazelle", "", 50) ENTRY("ironman", "", 50))

#undef ENTRY
