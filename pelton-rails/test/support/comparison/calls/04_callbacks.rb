# Which callbacks run, and in which order. Each line is a call.
order = Order.new(title: "one")
order.take_events
order.valid?
order.take_events
order.save
order.take_events
order.update(title: "two")
order.take_events
order.save
order.take_events
order.touch
order.take_events
order.update_column(:title, "three")
order.take_events
order.destroy
order.take_events
Order.create(title: "abort").persisted?
Order.create(title: "abort").take_events
error { Order.create!(title: "abort") }
Order.create(title: "roll back").persisted?
Order.create(title: "roll back").take_events
Order.where(title: "roll back").count
error { Order.create!(title: "raise") }
Order.where(title: "raise").count
kept = Order.create!(title: "keep")
kept.destroy
kept.destroyed?
error { kept.destroy! }
kept.take_events
Order.find(kept.id).take_events
Order.where(id: kept.id).first.take_events
Order.where(id: kept.id).update_all(title: "free")
Order.where(id: kept.id).delete_all
inner = nil
Order.transaction { inner = Order.create!(title: "within") and inner.take_events }
inner.take_events
Order.transaction { inner = Order.create!(title: "undone") and raise ActiveRecord::Rollback }
inner.take_events
inner.persisted?
Order.transaction { (inner = Order.create!(title: "first")) && inner.update!(title: "second") }
inner.take_events
Order.transaction { Order.transaction(requires_new: true) { inner = Order.create!(title: "nested") } and inner.take_events }
inner.take_events
Order.transaction { Order.transaction(requires_new: true) { inner = Order.create!(title: "lost") and raise ActiveRecord::Rollback } }
inner.take_events
Order.where(title: "lost").count
twice = Order.create!(title: "twice")
twice.take_events
Order.transaction { twice.update!(title: "a") && twice.update!(title: "b") }
twice.take_events
Order.transaction { twice.destroy! }
twice.take_events
Order.new(title: "unsaved").destroy.take_events
Order.insert({title: "without"})
Order.find_by(title: "without").take_events
Order.upsert_all([{id: 9000, title: "upserted"}]) && Order.find(9000).take_events
Order.find(9000).becomes(Order).take_events
Order.find(9000).dup.take_events
Order.skip_callback(:touch, :after, raise: false).class
Order.order(:id).pluck(:title)
