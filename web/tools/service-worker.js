// Keeps every file of the page. Filled in at build time: the cache's name and the list of files.
const CACHE = '__CACHE__';
const FILES = __FILES__;

self.addEventListener('install', (event) => {
    event.waitUntil(
        caches
            .open(CACHE)
            .then((cache) => cache.addAll(FILES))
            .then(() => self.skipWaiting()),
    );
});

self.addEventListener('activate', (event) => {
    event.waitUntil(
        caches
            .keys()
            .then((names) =>
                Promise.all(
                    names.filter((n) => n.startsWith('kinloop-') && n !== CACHE).map((n) => caches.delete(n)),
                ),
            )
            .then(() => self.clients.claim()),
    );
});

self.addEventListener('fetch', (event) => {
    if (event.request.method !== 'GET') return;
    event.respondWith(
        caches
            .match(event.request, { ignoreSearch: true, ignoreVary: true })
            .then((kept) => kept ?? fetch(event.request)),
    );
});
