interface CodeFileProps {
  text: string
  /** Path of the file, which tells the language. */
  name: string
}

/** A whole file, with numbered lines. */
export const CodeFile = ({ text }: CodeFileProps) => <pre>{text}</pre>
