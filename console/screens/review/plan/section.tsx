import type { ComponentChildren } from 'preact'

interface SectionProps {
  title: ComponentChildren
  open?: boolean
  children: ComponentChildren
}

/** A part of the page that is opened on demand. */
export const Section = ({ title, open = false, children }: SectionProps) => (
  <details class="review-section" open={open}>
    <summary>{title}</summary>
    {children}
  </details>
)
