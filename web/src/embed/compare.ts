// <kinloop-compare>: an experiment inside another page. One script tag, one element:
//
//   <script type="module" src="https://…/kinloop-compare.js"></script>
//   <kinloop-compare scene="fourbar_free" solvers="pgs-ncp,newton-ncp" preset="ht" duration="2"></kinloop-compare>
//
// The experiment runs in a frame from where the script came from, so that neither page can disturb the other.
// Attributes: scene, run, solvers, mode, preset, duration, time, plots as in a link, or link with all of it;
// height [px]; lazy waits until it is scrolled to. Methods play, pause, seek(seconds). Property state. Event "state".

const FIELDS: [attribute: string, key: string][] = [
    ['scene', 'scene'],
    ['run', 'run'],
    ['mode', 'mode'],
    ['preset', 'pre'],
    ['solvers', 's'],
    ['duration', 'T'],
    ['time', 't'],
    ['plots', 'plots'],
];

const PRESETS: Record<string, string> = { 'high-throughput': 'ht', 'high-precision': 'hp' };

export interface CompareState {
    scene: string;
    time: number; // shown [s]
    duration: number; // [s]
    playing: boolean;
    solvers: { id: string; state: string; filled: number; hash: string }[];
    verdict: string; // of a link with a hash
}

export class KinloopCompare extends HTMLElement {
    static observedAttributes = [...FIELDS.map(([attribute]) => attribute), 'link', 'height', 'lazy'];
    state: CompareState | null = null;
    private frame: HTMLIFrameElement | null = null;
    private waiting = 0;

    connectedCallback(): void {
        const frame = document.createElement('iframe');
        frame.title = this.getAttribute('title') ?? `kinloop: ${this.getAttribute('scene') ?? 'experiment'}`;
        frame.allow = 'fullscreen';
        frame.style.cssText = 'display:block;width:100%;border:0';
        this.style.display ||= 'block';
        this.frame = frame;
        this.show();
        this.append(frame);
        addEventListener('message', this.hear);
    }

    disconnectedCallback(): void {
        removeEventListener('message', this.hear);
        clearTimeout(this.waiting);
        this.frame?.remove();
        this.frame = null;
    }

    attributeChangedCallback(): void {
        clearTimeout(this.waiting);
        this.waiting = setTimeout(() => this.show(), 0) as unknown as number;
    }

    play(): void {
        this.tell('play');
    }

    pause(): void {
        this.tell('pause');
    }

    /** Shows the state at `time` [s]. */
    seek(time: number): void {
        this.tell('seek', time);
    }

    /** The fragment of the link that the attributes make. */
    get fragment(): string {
        const link = this.getAttribute('link');
        if (link) return link.slice(link.indexOf('#') + 1);
        const parts = FIELDS.flatMap(([attribute, key]) => {
            const value = this.getAttribute(attribute);
            if (value === null) return [];
            const text = key === 'pre' ? (PRESETS[value] ?? value) : value.replace(/\s+/g, '');
            return [`${key}=${encodeURIComponent(text).replaceAll('%2C', ',')}`];
        });
        return ['v=1', ...parts].join('&');
    }

    private show(): void {
        if (!this.frame) return;
        this.frame.height = this.getAttribute('height') ?? '560';
        this.frame.loading = this.hasAttribute('lazy') ? 'lazy' : 'eager';
        const url = new URL('./?embed', import.meta.url);
        url.hash = this.fragment;
        if (this.frame.src !== url.href) this.frame.src = url.href;
    }

    private tell(command: string, time = 0): void {
        this.frame?.contentWindow?.postMessage({ kinloop: command, time }, new URL(import.meta.url).origin);
    }

    private hear = (event: MessageEvent): void => {
        if (event.source !== this.frame?.contentWindow || !event.data?.kinloopState) return;
        this.state = event.data.kinloopState as CompareState;
        this.dispatchEvent(new CustomEvent('state', { detail: this.state }));
    };
}

if (!customElements.get('kinloop-compare')) customElements.define('kinloop-compare', KinloopCompare);
