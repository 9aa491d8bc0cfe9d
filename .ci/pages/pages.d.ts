// Types that the scripts of the pages cannot say themselves: what a listener meets, and members that are not set in a
// constructor. A script of a page is no module: its classes are merged with the interfaces of the same name.

interface EventTarget { closest(selector: string): any; matches(selector: string): boolean; blur(): void; value: any; checked: boolean; dataset: DOMStringMap }
interface Element { dataset: DOMStringMap; value: any; selectionStart: number | null; style: CSSStyleDeclaration; focus(): void; click(): void; inert: boolean; disabled: boolean }
interface HTMLElement { width: number; height: number; getContext(kind: "2d"): CanvasRenderingContext2D }
interface Window { app: App }
declare var btr: any;

interface Stream { token: string; run: string | null; told: (message: any) => void; state: (what: "" | "lost" | "refused", why?: string) => void; cursor: any; over: any }
interface Place { words: [string, string] }
interface TreeView { asked: () => void }
interface TreeMap { sx: number; sy: number }
interface Panel { wake: () => void; fold: any }
interface BoardPanel { page: any; fold: any; readers: Map<string, any>; of: any; indexed: any }
interface Story { page: any; goal: any; prompt: any }
interface Branches { box: HTMLElement; page: any; links: any[] }
interface Page { coverage: any }
interface CoveragePanel { host: HTMLElement; files: any }
interface Side { page: any; run: string; history: any; closed: boolean; past: any; at: any; name: string }
interface Two { lineDrawn: number }

// The editor's page: its script is in several files, each of which adds to the class.
interface App {
  // what it holds
  told: any; asking: any; opened: Map<string, number[]>; from: string | null; several: boolean; adding: boolean; dragging: boolean; playing: boolean;
  seeking: number | undefined; began: { at: any; value: any }; press: PointerEvent; pictured: string; ports: Set<string>; seed: number; nextOpen: boolean;
  acting: number; never: string; checking: boolean; checked: any; asks: boolean; clip: string; unsent: boolean; waiting: boolean;
  // bar.js
  toolbar(): void; placeBar(): void; unpick(): void; allCommands(): [string, string, () => any][]; commands(): void; tabs(): void; toTab(path: string): Promise<void>; into(): void; back(): void;
  // hands.js
  listen(): void; key(e: KeyboardEvent): void; grab(e: PointerEvent): void; grabKind(e: PointerEvent): void; found(node: any, before: any): any;
  drag(start: PointerEvent, label: string, node: any, done: (target: any, moved: any) => void, tapped?: () => void): void; pictures(): void; picture(form: string): Promise<void>;
  // line.js
  listenToLine(): void; seek(by: number): Promise<void>; timeLine(): void; nameAt(path: string): string; stepWords(words: string): string; play(): Promise<void>;
  // palette.js, asking.js, running.js, trying.js
  palette(): void; list(): void; wish(): void; wished(wish: string): Promise<void>; makeSkill(): Promise<void>;
  run(): Promise<void>; sure(title: string, lines: string[], yes: string, trusted: boolean): void; watch(made: any): Promise<void>; own(): Promise<void>;
  tried(move: string, given?: object): Promise<void>; painted(): void;
}
