// Files that a person gives, by button or drop, with their paths inside the folder they came in.

export interface GivenFile {
    path: string;
    file: File;
}

const MOST_FILES = 1000;

export function fromList(files: Iterable<File>): GivenFile[] {
    return [...files].map((file) => ({ path: file.webkitRelativePath || file.name, file }));
}

async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
    const reader = folder.createReader();
    const all: FileSystemEntry[] = [];
    for (;;) {
        // A reader hands out at most a hundred at a time.
        const some = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
        if (some.length === 0) return all;
        all.push(...some);
    }
}

async function walk(entry: FileSystemEntry, found: GivenFile[]): Promise<void> {
    if (found.length > MOST_FILES) throw new Error(`more than ${MOST_FILES} files were dropped`);
    if (entry.isFile) {
        const file = await new Promise<File>((done, fail) => (entry as FileSystemFileEntry).file(done, fail));
        found.push({ path: entry.fullPath.replace(/^\//, ''), file });
    } else if (entry.isDirectory) {
        for (const inner of await entriesOf(entry as FileSystemDirectoryEntry)) await walk(inner, found);
    }
}

/** What was dropped, folders with all that is in them. To be called before the event has passed. */
export async function fromDrop(transfer: DataTransfer): Promise<GivenFile[]> {
    const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.() ?? null);
    if (!entries.some((entry) => entry?.isDirectory)) return fromList(transfer.files);
    const found: GivenFile[] = [];
    for (const entry of entries) if (entry) await walk(entry, found);
    return found;
}
