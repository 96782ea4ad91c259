// Says who is typing. A sign counts for four seconds.
export function typingSigns(line) {
  const typists = new Map()
  const say = () => {
    const names = [...typists.keys()]
    line.textContent = names.length ? `${names.join(", ")} ${names.length > 1 ? "are" : "is"} typing …` : ""
  }
  return (name) => {
    clearTimeout(typists.get(name))
    typists.set(name, setTimeout(() => { typists.delete(name), say() }, 4000))
    say()
  }
}
