// The clock of the core. `performance` is an accessor of the global object, which engines are slow to look up: once is enough.
mergeInto(LibraryManager.library, {
    $clock: '=performance',
    kl_now__deps: ['$clock'],
    kl_now: function () {
        return clock.now();
    },
});
