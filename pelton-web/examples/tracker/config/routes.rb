# config/routes.rb
# frozen_string_literal: true

Tracker.routes do
  root to: "issues#index"
  resources :issues, except: [:destroy] do
    get :live, on: :member
    resources :comments, only: [:create]
    resources :attachments, only: [:create, :show]
  end

  namespace(:api) do
    resources :issues, only: [:index, :show, :create]
  end

  resource :sign_up, only: [:new, :create]
  resource :sign_in, only: [:new, :create, :destroy]
  resources :devices, only: [:index, :destroy] do
    delete :others, on: :collection
  end
  resource :password, only: [:edit, :update]
  resources :password_resets, only: [:new, :create, :edit, :update], param: :token
end
