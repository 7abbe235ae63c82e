import React, { useState } from "react";

interface Props<T> {
  items: readonly T[];
  render: (item: T, index: number) => JSX.Element;
  title?: string;
}

export default function List<T extends { id: string }>({ items, render, title = "All" }: Props<T>) {
  const [open, setOpen] = useState<boolean>(true);
  if (items.length === 0) return <p className="empty">Nothing here&nbsp;yet.</p>;
  return (
    <>
      <h2 onClick={() => setOpen(!open)}>{title}</h2>
      {open && (
        <ul {...{ role: "list" }}>
          {items.map((item, i) => (
            <li key={item.id as string}>{render(item, i)}</li>
          ))}
        </ul>
      )}
      <Icon.Arrow down={open} />
    </>
  );
}
