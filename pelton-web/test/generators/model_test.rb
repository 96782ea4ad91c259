# frozen_string_literal: true

require_relative "../support/generating"

class WebGeneratorsModelTest < PeltonTest
  include Generating

  def test_a_model
    generate("model", "Post", "title:string!", "body:text", "user:references", "key:token", "data:json")

    assert_equal <<~RUBY, text_of("app/models/post.rb")
      # frozen_string_literal: true

      require "securerandom"

      class Post < Sequel::Model
        many_to_one :user

        plugin :serialization, :json, :data

        # Attributes that forms may set: leave out what users may not, such as a role.
        set_allowed_columns :title, :body, :data

        def before_create
          self.key ||= SecureRandom.alphanumeric(24)
          super
        end

        def validate
          super
          validates_presence [:title, :user_id]
        end
      end
    RUBY
    assert_includes migration("create_posts"), "create_table(:posts)"
    assert_includes text_of("test/models/post_test.rb"), "def test_it_needs_its_user"
    assert_equal 3, written.size
  end

  # The table is that of the model's name, whatever the number of what was written.
  def test_the_number_of_the_name
    generate("model", "people")

    assert_includes text_of("app/models/person.rb"), "class Person < Sequel::Model\nend\n"
    assert_includes migration("create_people"), "create_table(:people)"
    assert_includes text_of("test/models/person_test.rb"), "assert Person[Person.create.id]"
  end

  def test_a_model_in_a_module
    generate("model", "admin/visit", "page")

    assert_includes text_of("app/models/admin/visit.rb"),
      "module Admin\n  class Visit < Sequel::Model(:admin_visits)\n" \
      "    # Attributes that forms may set: leave out what users may not, such as a role.\n" \
      "    set_allowed_columns :page\n  end\nend\n"
    assert_includes migration("create_admin_visits"), "create_table(:admin_visits)"
    assert_includes text_of("test/models/admin/visit_test.rb"), "class AdminVisitTest"
  end

  def test_parts_that_are_left_out
    generate("model", "post", "--no-migration")

    assert_equal %w[app/models/post.rb test/models/post_test.rb], written
    generate("model", "comment", "--no-timestamps")

    refute_includes migration("create_comments"), "created_at"
  end

  def test_names_of_other_things
    %w[string kernel thread shop application_controller process/item].each do |name|
      assert_includes refused("model", name), "is the name of something else"
    end
    assert_includes refused("model", "../post"), "cannot be the name of a model"
    generate("model", "post")

    assert_includes generate("model", "post"), "identical  app/models/post.rb"
  end

  def test_without_a_database
    put("config/application.rb", Generating::CONFIGURATION.sub("require \"pelton/sequel\"\n", ""))

    assert_includes refused("model", "post"), "the application has no models: add gem \"pelton-sequel\""
  end
end
