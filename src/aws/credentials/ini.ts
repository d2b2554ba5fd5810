/** Values by name of the key, by name of the section. */
export type Ini = Map<string, Map<string, string>>

/**
 * The shared files' dialect: comments on lines of their own or after a blank, names in lower case,
 * indented lines belong to the key above and are left out.
 */
export function parseIni(text: string): Ini {
  const sections: Ini = new Map()
  let current: Map<string, string> | null = null
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    if (/^\s|^$|^[#;]/.test(line)) continue
    const heading = /^\[([^\]]+)\]/.exec(line)?.[1]
    if (heading !== undefined) {
      const name = sectionName(heading)
      current = sections.get(name) ?? new Map()
      sections.set(name, current)
      continue
    }
    const at = line.indexOf('=')
    if (at > 0) current?.set(line.slice(0, at).trim().toLowerCase(), settingOf(line.slice(at + 1)))
  }
  return sections
}

/** `profile "my name"` and `profile   my name` are `profile my name`. */
const sectionName = (heading: string) =>
  heading
    .trim()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^(profile )?["'](.*)["']$/g, '$1$2')

const settingOf = (text: string) => text.replace(/\s[#;].*$/, '').trim()
