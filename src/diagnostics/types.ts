/** One thing that the engine says about the code, the environment or a cloud. */
export interface Diagnostic {
  severity: 'error' | 'warning'
  summary: string
  /** May span lines; empty when there is none. */
  detail: string
  /** As the engine names it: relative to the engine root, POSIX; null when it concerns no file. */
  file: string | null
  line: number | null
  /** The block it stands in, for example `resource "aws_s3_bucket" "logs"`. */
  context: string | null
  /** Of the resource instance it concerns. */
  address: string | null
  /** Lines of the code as the engine quotes them, each with its number; empty when there are none. */
  snippet: string
  /** How many alike were found. */
  count: number
}
