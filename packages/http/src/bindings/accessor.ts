/** Returns the descriptor of a property that an object has or inherits; without members if it has none of that name. */
export function accessorOf(object: object, name: string): PropertyDescriptor {
  for (let each: object | null = object; each; each = Object.getPrototypeOf(each) as object | null) {
    const found = Object.getOwnPropertyDescriptor(each, name)
    if (found) return found
  }
  return {}
}
