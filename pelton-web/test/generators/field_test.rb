# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsFieldTest < PeltonTest
  def field(text) = Generating::Generators::Field.new(text)

  def test_columns_of_a_new_table
    {
      "title" => "String :title",
      "title:string{80}:uniq" => "String :title, size: 80, index: {unique: true}",
      "email:string!:index" => "String :email, null: false, index: true",
      "body:text" => "String :body, text: true",
      "price:decimal" => "BigDecimal :price, size: [10, 2]",
      "price:decimal{8, 3}" => "BigDecimal :price, size: [8, 3]",
      "count:bigint" => "Bignum :count",
      "done:boolean" => "TrueClass :done, null: false, default: false",
      "at:time" => "DateTime :at", "on:timestamp" => "DateTime :on", "day:date" => "Date :day",
      "key:token" => "String :key, size: 24, index: {unique: true}",
      "user:references" => "foreign_key :user_id, :users, null: false, index: true",
      "person:belongs_to:uniq" => "foreign_key :person_id, :people, null: false, index: {unique: true}"
    }.each { |text, line| assert_equal [line], field(text).columns, text }
  end

  # Rows that are there have no value.
  def test_additions_and_removals
    assert_equal ["add_column :slug, String, size: 80", "add_index :slug, unique: true"],
      field("slug:string{80}:uniq").additions
    assert_equal ["add_column :count, :Bignum"], field("count:bigint").additions
    assert_equal ["add_foreign_key :user_id, :users", "add_index :user_id"], field("user:references").additions
    assert_equal ["drop_index :slug", "drop_column :slug"], field("slug:string:index").removals
    assert_equal ["drop_index :user_id", "drop_foreign_key :user_id"], field("user:references").removals
  end

  def test_what_an_object_cannot_be_without
    assert_equal ["user_id", "title", nil, nil, nil],
      %w[user:references title:string! body:text done:boolean! key:token!].map { |text| field(text).needed }
  end

  def test_what_a_form_may_set
    assert_equal [true, false, false], %w[title user:references key:token].map { |text| field(text).permitted? }
    assert_equal ['"Text"', nil, nil], %w[title user:references key:token].map { |text| field(text).sample }
  end

  def test_what_is_none
    ["", "Title", "a b", "1a", "a:", "a:strin", "a:string:other", "a:string{x}", "a:text{5}", "a:string{5",
      "a:references{x}", "a;b", "id", "class", "a:string:uniq:more", "a:decimal{1,2,3}"].each do |text|
      assert_raises(Generating::Generators::Refused, text) { field(text) }
    end
    assert_includes assert_raises(Generating::Generators::Refused) { field("a:number") }.message,
      "there is no type number, of the column a: there are string, text"
  end
end
