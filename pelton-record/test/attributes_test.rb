# frozen_string_literal: true

require_relative "support/blog"

class AttributesTest < PeltonTest
  include Blog

  def test_reading_and_writing
    author = Author.new(name: "Ann", age: "20")

    assert_equal [20, 20, 20, "Ann"], [author.age, author[:age], author["age"], author.read_attribute(:name)]
    author["age"] = "21"
    author.write_attribute(:name, "Bo")

    assert_equal [21, "Bo"], [author.age, author.name]
    assert_equal({"name" => "Bo", "age" => 21}, author.slice(:name, :age))
    assert_equal ["Bo", 21], author.values_at(:name, :age)
    assert_equal "Bo", author.attributes["name"]
    assert_includes Author.attribute_names, "email"
    assert author.has_attribute?("email")
    refute author.has_attribute?(:nonsense)
    assert_raises(NoMethodError) { author.nonsense }
  end

  def test_predicates
    author = Author.new(name: "Ann", age: 0)

    assert_predicate author, :name?
    refute_predicate author, :age?
    refute_predicate author, :email?
  end

  def test_a_value_that_cannot_be_is_nil
    assert_nil Author.new(age: "many").age
    assert_nil Author.new(age: "").age
  end

  def test_the_database_s_defaults
    assert_equal 0, Author.new.posts_count
    assert_equal 0, Author.create!(name: "x").reload.posts_count
  end

  def test_declared_attributes
    person = model(:Person) do
      self.table_name = "authors"
      attribute :terms, :boolean
      attribute :age, default: 7
      attribute :email, default: -> { "new@example.com" }
    end
    one = person.new(name: "x", terms: "1")

    assert_equal [true, 7, "new@example.com"], [one.terms, one.age, one.email]
    one.save!

    assert_equal [7, "new@example.com", nil], person.find(one.id).then { |found| [found.age, found.email, found.terms] }
    assert one.terms
    assert_equal 8, person.create!(name: "y", age: 8, email: "other").reload.age
  end

  def test_aliases
    person = model(:Aliased) do
      self.table_name = "authors"
      alias_attribute :title, :name
    end
    person.create!(title: "Dr")

    assert_equal "Dr", person.find_by(title: "Dr").title
    assert_equal ["Dr"], person.order(:title).pluck(:title)
  end

  def test_normalized_values
    person = model(:Normalized) do
      self.table_name = "authors"
      normalizes :email, with: ->(email) { email.strip.downcase }
    end
    person.create!(email: " ANN@Example.com ")

    assert_equal "ann@example.com", person.find_by(email: "ann@example.COM").email
    assert_nil person.new(email: nil).email
  end

  def test_inspect_hides_secrets
    table(:accounts) do
      String :password_digest
      String :api_token
    end
    account = model(:Account).new(password_digest: "abc", api_token: "def")

    refute_match(/abc|def/, account.inspect)
    assert_match(/name: "Ann"/, ann.inspect)
  end

  def test_what_was_not_selected_is_not_nil
    part = Author.where(id: ann.id).select(:id, "LENGTH(name) AS size").first
    assert_equal [3, true, false, %w[id size]], [part.size, part.has_attribute?(:size), part.has_attribute?(:name), part.attributes.keys]
    assert_includes assert_raises(ActiveModel::MissingAttributeError) { part.name }.message, "select it"
    assert_raises(ActiveModel::MissingAttributeError) { ann[:nothing] = 1 }
    assert_nil ann[:nothing]
  end

  def test_what_cannot_be_cast_is_judged_by_validations
    checked = model(:Checked) do
      self.table_name = "authors"
      validates :age, numericality: true, allow_nil: true
    end
    one = checked.new(age: "12abc")
    assert_equal [nil, "12abc", ["Age is not a number"]], [one.age, one.age_before_type_cast, one.tap(&:valid?).errors.full_messages]
    one.age = "12"
    assert_equal [true, 12], [one.valid?, one.age_before_type_cast]
  end

  def test_names_are_filtered_in_any_case_and_in_the_values
    shy = Class.new(Author) do
      self.filter_attributes = %i[AGE otp]
      attribute :settings, :json
    end
    text = shy.new(name: "Ann", age: 3, settings: {"a" => [{"otp" => 1234, "b" => 5}]}).inspect

    assert_match(/name: "Ann"/, text)
    assert_match(/age: \[FILTERED\]/, text)
    assert_match(/"b" ?=> ?5/, text)
    refute_includes text, "1234"
  end

  def test_what_inspect_does_not_show
    text = Author.new(name: "Ann", email: "ann@example.com").inspect

    assert_match(/name: "Ann", email: \[FILTERED\]/, text)
    shy = model(:Shy) do
      self.table_name = "authors"
      self.filter_attributes += [:name]
    end

    assert_match(/name: \[FILTERED\], age: 3/, shy.new(name: "Ann", age: 3).inspect)
    assert_match(/"Ann"/, Author.new(name: "Ann").inspect)
  end

  def test_messages_have_no_values
    [-> { Author.find_by!(name: "s3cret") }, -> { Author.where(email: "s3cret").find(1) }, -> { Author.where("name = ?", "s3cret").sole }, -> { Author.where(name: ["s3cret"]).first! },
      -> { Author.where(name: {"s3cret" => 1}).first }, -> { Author.where("name = ?", {"s3cret" => 1}).first }].each do |find|
      refute_match(/s3cret/, assert_raises(Pelton::Record::Error, &find).message)
    end
    refute_match(/s3cret/, Author.where(name: "s3cret").inspect)
  end
end
