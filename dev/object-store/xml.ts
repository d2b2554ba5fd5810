const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }
const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
const unescapeXml = (text: string): string =>
  text.replace(
    /&(?:#(\d+)|#x([0-9a-fA-F]+)|(amp|lt|gt|quot|apos));/g,
    (_, decimal?: string, hex?: string, name?: string) => {
      if (decimal) return String.fromCodePoint(Number(decimal))
      if (hex) return String.fromCodePoint(Number.parseInt(hex, 16))
      return Object.keys(ENTITIES).find((character) => ENTITIES[character] === `&${name};`) ?? ''
    },
  )

export type Xml = string | number | boolean | { [name: string]: Xml | Xml[] | undefined }

const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

/** Writes nested records as XML. A list repeats its element, and undefined is left out. */
export function toXml(root: string, value: Xml, namespace = S3_NAMESPACE): string {
  return (
    '<?xml version="1.0" ' +
    'encoding="UTF-8"?>\n' +
    element(root, value, root === 'Error' ? '' : ` xmlns="${namespace}"`)
  )
}

function element(name: string, value: Xml, attributes = ''): string {
  if (typeof value !== 'object') return `<${name}${attributes}>${escapeXml(String(value))}</${name}>`
  const children = Object.entries(value).flatMap(([key, child]) => {
    if (child === undefined) return []
    return Array.isArray(child) ? child.map((item) => element(key, item)) : [element(key, child)]
  })
  return `<${name}${attributes}>${children.join('')}</${name}>`
}

/**
 * Reads the texts of all elements of a name, in their order. This suffices for the two kinds of bodies that are sent.
 */
export function textsOf(xml: string, name: string): string[] {
  return [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map((match) =>
    unescapeXml((match[1] ?? '').trim()),
  )
}
