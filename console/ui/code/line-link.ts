/** How a view of code links to single lines of the later version. */
export interface LineLinks {
  href: (line: number) => string
  /** Puts the line into the address. */
  select: (line: number) => void
  /** The line that the address names. */
  selected: number | null
}
