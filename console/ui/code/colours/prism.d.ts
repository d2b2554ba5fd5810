/** The parts of prismjs that are used here. Its modules add themselves to a global `Prism`. */
declare module 'prismjs/components/prism-core.js' {
  export type PrismToken = string | { type: string; alias?: string | string[]; content: PrismToken | PrismToken[] }
  const Prism: {
    languages: Record<string, unknown>
    tokenize(text: string, grammar: unknown): PrismToken[]
  }
  export default Prism
}
declare module 'prismjs/components/prism-hcl.js'
declare module 'prismjs/components/prism-json.js'
declare module 'prismjs/components/prism-yaml.js'
