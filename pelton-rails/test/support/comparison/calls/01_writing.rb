# Creating, changing and deleting rows. Each line is a call.
Author.count
Author.create!(name: "Ann", age: 30)
Author.create(name: "Bob", age: 17)
Author.create(name: "")
Author.create(name: "").errors.full_messages
error { Author.create!(name: "") }
error { Author.create!(name: "Ann") }
Author.new.new_record?
Author.new(name: "Cid").save
Author.new(name: nil).save
error { Author.new(name: nil).save! }
Author.new(name: nil).save(validate: false)
Author.create!([{name: "Dan"}, {name: "Eve", age: 41}])
Author.find_or_create_by!(name: "Fay")
Author.find_or_create_by!(name: "Fay")
Author.find_or_create_by(name: "Gus") { |author| author.age = 50 }
Author.create_or_find_by(name: "Gus")
Author.create_or_find_by!(name: "Hal", age: 60)
Author.find_or_initialize_by(name: "Ida").new_record?
Author.find_by(name: "Ann").update(age: 31)
error { Author.find_by(name: "Ann").update!(age: -1) }
Author.find_by(name: "Ann").update(age: -1)
Author.find_by(name: "Ann").age
Author.find_by(name: "Ann").update_column(:age, 32)
Author.find_by(name: "Ann").update_columns(age: 33, settings: {"a" => 1})
Author.find_by(name: "Ann").settings
Author.find_by(name: "Ann").increment!(:age)
Author.find_by(name: "Ann").decrement!(:age, 3)
Author.find_by(name: "Ann").update_attribute(:age, 31)
Author.where(name: "Bob").update_all(age: 18)
Author.where(name: "Bob").update_all("age = age + 1")
Author.update(Author.find_by(name: "Bob").id, age: 20)
Author.update_counters(Author.find_by(name: "Bob").id, age: 5)
Author.find_by(name: "Bob").age
Author.insert({name: "Ian", age: 1})
Author.where(name: "Ian").count
Author.insert_all([{name: "Jay"}, {name: "Kim"}]).class
error { Author.insert!({name: "Ann"}) }
Author.insert({name: "Ann"})
Author.where(name: "Ann").count
Author.find_by(name: "Kim").destroy
Author.find_by(name: "Jay").delete
Author.where(name: nil).delete_all
Author.where(name: "Ian").destroy_all
Author.delete_by(name: "Hal")
Author.destroy_by(name: "Gus")
Author.order(:name).pluck(:name)
ann = Author.find_by!(name: "Ann")
ann.name = "Anna"
ann.changes
ann.changed?
ann.restore_attributes
ann.changed?
ann.assign_attributes(age: 44)
ann.age_was
ann.age_change
ann.save
ann.saved_changes
ann.saved_change_to_age?
ann.reload.age
ann.dup.new_record?
ann.frozen?
ann.toggle(:age) && ann.age
ann.reload.update(age: 30)
gone = Author.create!(name: "Gone")
gone.destroy
gone.destroyed?
gone.frozen?
gone.persisted?
error { gone.reload }
error { gone.update!(name: "x") }
