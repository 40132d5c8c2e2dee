// Files dropped on the page and scenes pasted into it; what takes them is loaded then.
import { say } from '../state/messages';
import { fromDrop, fromList, type GivenFile } from './given-files';

async function take(files: GivenFile[]): Promise<void> {
    await (await import('./own-input')).takeFiles(files);
}

function refuseDrop(error: unknown): void {
    say('error', 'What was dropped cannot be read.', error instanceof Error ? error.message : String(error));
}

/** Other things can be dragged as well: text, a plot to another place. */
const bringsFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

/** Drop anywhere, paste files or the text of a scene. */
export function listenToDrops(): void {
    addEventListener('dragover', (event) => {
        if (!bringsFiles(event)) return;
        event.preventDefault();
        document.body.classList.add('dropping');
    });
    addEventListener('dragleave', (event) => {
        if (event.relatedTarget === null) document.body.classList.remove('dropping');
    });
    addEventListener('drop', (event) => {
        if (!bringsFiles(event)) return;
        event.preventDefault();
        document.body.classList.remove('dropping');
        if (event.dataTransfer) void fromDrop(event.dataTransfer).then(take).catch(refuseDrop);
    });
    addEventListener('paste', (event) => {
        const target = event.target as HTMLElement;
        if (target.matches?.('input, textarea')) return;
        const files = event.clipboardData?.files ?? [];
        if (files.length > 0) return void take(fromList(files));
        const text = event.clipboardData?.getData('text/plain').trim() ?? '';
        if (text.startsWith('{') || text.startsWith('['))
            void take(fromList([new File([text], 'pasted.json', { type: 'application/json' })]));
    });
}
