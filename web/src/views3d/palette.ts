// Colours of the 3D views for the light and the dark page.
export interface Palette {
    background: number;
    ground: number;
    grid: string;
    bodies: number[];
    edge: number;
    highlight: number;
    force: number;
    tangential: number;
    open: number;
    stick: number;
    slip: number;
    joint: number;
}

export const hex = (color: number): string => `#${color.toString(16).padStart(6, '0')}`;

export const LIGHT: Palette = {
    background: 0xf1f3f6,
    ground: 0xe6e9ed,
    grid: '#c3cad2',
    bodies: [0xb8c4d4, 0xd8c7a8, 0xb5cdb8, 0xd0b8c8, 0xa9c6cc, 0xcbbfa9],
    edge: 0x3c4653,
    highlight: 0xe69f00,
    force: 0x202020,
    tangential: 0x8a4fa0,
    open: 0x8a929c,
    stick: 0x0072b2,
    slip: 0xd55e00,
    joint: 0x4a5563,
};

export const DARK: Palette = {
    background: 0x14171b,
    ground: 0x1b1f24,
    grid: '#333a43',
    bodies: [0x74859c, 0x978564, 0x6c8d71, 0x8f7286, 0x628891, 0x8a7d66],
    edge: 0xc5ced9,
    highlight: 0xffb733,
    force: 0xf2f4f6,
    tangential: 0xc78fdb,
    open: 0x9aa3ad,
    stick: 0x4db2f0,
    slip: 0xff8a3d,
    joint: 0xaeb8c4,
};
