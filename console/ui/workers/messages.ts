/** What the layout worker is asked: boxes with their sizes in pixels, and ties by the places of boxes in the list. */
export interface LayoutRequest {
  sizes: readonly { width: number; height: number }[]
  ties: readonly (readonly [from: number, to: number])[]
}

/** The upper left corners of the boxes, in the order of the request; null when they could not be arranged. */
export interface LayoutAnswer {
  places: { x: number; y: number }[] | null
}
