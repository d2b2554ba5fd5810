import type { ServerAnswer } from '../server.ts'

/** A request whose signature and body have been checked. */
export interface Call {
  method: string
  bucket: string
  key: string
  query: Map<string, string>
  headers: Record<string, string>
  body: Buffer
}

/** An error that is answered in the form of S3. */
export class S3Error extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const denied = (message = 'Access Denied') => new S3Error(403, 'AccessDenied', message)
export const noSuchKey = () => new S3Error(404, 'NoSuchKey', 'The specified key does not exist.')
export const notAllowed = () =>
  new S3Error(405, 'MethodNotAllowed', 'The specified method is not allowed against this resource.')

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' }
const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)

type Xml = string | number | boolean | { [name: string]: Xml | Xml[] | undefined }

const S3_NAMESPACE = 'http://s3.amazonaws.com/doc/2006-03-01/'

/** Writes nested records as XML. A list repeats its element, and undefined is left out. */
export function toXml(root: string, value: Xml, namespace = S3_NAMESPACE): string {
  const attributes = root === 'Error' ? '' : ` xmlns="${namespace}"`
  return `<?xml version="1.0" encoding="UTF-8"?>\n${element(root, value, attributes)}`
}

function element(name: string, value: Xml, attributes = ''): string {
  if (typeof value !== 'object') return `<${name}${attributes}>${escapeXml(String(value))}</${name}>`
  const children = Object.entries(value).flatMap(([key, child]) =>
    [child ?? []].flat().map((item) => element(key, item)),
  )
  return `<${name}${attributes}>${children.join('')}</${name}>`
}

export const xmlAnswer = (root: string, value: Xml): ServerAnswer => ({
  status: 200,
  headers: { 'content-type': 'application/xml' },
  body: toXml(root, value),
})
