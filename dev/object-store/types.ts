/** A request whose signature and body have been checked. */
export interface Call {
  method: string
  bucket: string
  key: string
  query: Map<string, string>
  headers: Record<string, string>
  body: Buffer
}
export interface Answer {
  status: number
  headers: Record<string, string>
  body?: Buffer
}
